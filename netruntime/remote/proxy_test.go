package remote_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"mannequin/internal/testing/must"
	"mannequin/netruntime"
	"mannequin/netruntime/remote"
	"mannequin/netruntime/remote/server"
)

// proxy is an nginx in front of two servers. A call that a killed server has not answered goes to the
// other: computing twice does no harm.
const proxy = `daemon off; master_process off; worker_processes 1; pid %[1]s/pid; error_log stderr warn;
events { worker_connections 256; }
http {
  access_log off; client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;
  upstream inference { server %[3]s max_fails=1 fail_timeout=1s; server %[4]s max_fails=1 fail_timeout=1s; keepalive 16; }
  server {
    listen %[2]s http2; client_max_body_size 64m; client_body_buffer_size 1m; keepalive_requests 1000000;
    location / { grpc_pass grpc://inference; grpc_next_upstream error timeout non_idempotent; }
  }
}
`

// Behind a proxy with two servers, one of which is killed, the other goes on.
func TestProxy(t *testing.T) {
	nginx, err := exec.LookPath("nginx")
	if err != nil {
		if _, err := os.Stat("/usr/sbin/nginx"); err != nil {
			t.Skip("nginx is not installed: apt-get install nginx-light")
		}
		nginx = "/usr/sbin/nginx"
	}
	n := blend(t)
	first, at1, stop := serve(t, "127.0.0.1:0", served(n), server.Options{})
	second, at2, _ := serve(t, "127.0.0.1:0", served(n), server.Options{})
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	at, dir := l.Addr().String(), t.TempDir()
	must.Do(t, l.Close())
	config := filepath.Join(dir, "nginx.conf")
	must.Do(t, os.WriteFile(config, fmt.Appendf(nil, proxy, dir, at, at1, at2), 0o666))
	cmd := exec.Command(nginx, "-p", dir, "-c", config)
	cmd.Stderr = os.Stderr
	must.Do(t, cmd.Start())
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
	}()
	c, _ := dial(t, at, remote.Options{})
	p := pairOf(t, c, n, netruntime.SessionOptions{Batch: 16, Workers: 1})
	wait(t, c)
	const runs = 600
	for i := range runs {
		if i == 200 {
			go stop()
		}
		p.run(t, uint64(i), 1+i%16, 1)
		time.Sleep(time.Millisecond)
	}
	got := c.Stats()
	const requests = `mannequin_inference_rows_total{model="blend"}`
	t.Logf("%+v, %.0f and %.0f rows by the two servers", got, metric(t, first, requests), metric(t, second, requests))
	if got.Remote+got.Local != runs || got.Remote < runs*9/10 || metric(t, first, requests) < 100 || metric(t, second, requests) < 100 {
		t.Errorf("%+v of %d runs: want nearly all remote, by both servers", got, runs)
	}
}
