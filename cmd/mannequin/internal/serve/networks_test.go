package serve

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"mannequin/animsys/keypose"
	"mannequin/animsys/latent"
	"mannequin/animsys/manifold"
	"mannequin/animsys/mann"
	"mannequin/animsys/matching"
	"mannequin/animsys/strnn"
	"mannequin/internal/command"
	"mannequin/internal/testing/must"
	"mannequin/models"
	"mannequin/models/person"
	"mannequin/netruntime"
	"mannequin/netruntime/remote"
)

// serving runs the command with a server of networks and returns its addresses.
func serving(t *testing.T, args ...string) (grpc, metrics string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	told, tell := io.Pipe()
	done := make(chan int, 1)
	var errs bytes.Buffer
	go func() {
		done <- command.Run(ctx, New(), append([]string{"--grpc", "localhost:0", "--metrics", "localhost:0"}, args...), tell, &errs)
		tell.Close()
	}()
	var out bytes.Buffer
	ended := make(chan struct{})
	t.Cleanup(func() {
		cancel()
		if code := <-done; code != 0 && code != 130 {
			t.Errorf("exit code %d: %s", code, &errs)
		}
		<-ended
	})
	line := make([]byte, 4096)
	for !strings.Contains(out.String(), "until Ctrl-C") {
		n, err := told.Read(line)
		if out.Write(line[:n]); err != nil {
			close(ended)
			t.Fatalf("%v: %s%s", err, &out, &errs)
		}
	}
	go func() { io.Copy(io.Discard, told); close(ended) }()
	return regexp.MustCompile(`models at (\S+)`).FindStringSubmatch(out.String())[1], regexp.MustCompile(`metrics at (\S+)`).FindStringSubmatch(out.String())[1]
}

// Networks of the command compute what the processor computes, with a token.
func TestServeNetworks(t *testing.T) {
	tokens := filepath.Join(t.TempDir(), "tokens")
	must.Do(t, os.WriteFile(tokens, []byte("first\nsecond\n"), 0o666))
	at, metrics := serving(t, "--tokens", tokens, "--window", "0", "human-next", "human-footstep")
	c := must.Get(remote.Dial(at, remote.Options{Token: "second", Deadline: 5 * time.Second}))(t)
	defer c.Close()
	n := must.Get(models.Open("human-next"))(t)
	s := must.Get(c.Open(n, netruntime.SessionOptions{Batch: 2, Workers: 1}))(t)
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	must.Do(t, c.Wait(ctx))
	x, y, want := make([]float32, 2*n.Inputs()), make([]float32, 2*n.Outputs()), make([]float32, 2*n.Outputs())
	for i := range x {
		x[i] = float32(i)
	}
	must.Do(t, s.Run(y, x, 2))
	local := must.Get(n.NewSession(netruntime.SessionOptions{Batch: 2, Workers: 1}))(t)
	defer local.Close()
	if must.Do(t, local.Run(want, x, 2)); !slices.Equal(y, want) {
		t.Error("other values than the processor's")
	}
	if got := c.Stats(); got != (remote.Stats{Remote: 1}) {
		t.Errorf("%+v", got)
	}
	r := must.Get(http.Get(metrics))(t)
	defer r.Body.Close()
	if b := must.Get(io.ReadAll(r.Body))(t); !strings.Contains(string(b), `mannequin_inference_requests_total{code="OK",model="human-next"} 3`) {
		t.Errorf("no count of three requests in\n%s", b)
	}
}

// The server has every network that generators of shipped models open, of which many are parts.
func TestParts(t *testing.T) {
	var opened []*netruntime.Net
	record := func(n *netruntime.Net, o netruntime.SessionOptions) (netruntime.Session, error) {
		opened = append(opened, n)
		return n.NewSession(o)
	}
	type closer interface{ Close() error }
	var all []closer
	dogs := must.Get(models.OpenAs("dog", mann.NewModel))(t)
	all = append(all, must.Get(dogs.NewController(mann.ControllerOptions{Capacity: 2, Open: record}))(t))
	walkers := must.Get(person.Open())(t)
	all = append(all, must.Get(walkers.NewStream(manifold.StreamOptions{Capacity: 2, Open: record}))(t))
	clips, next := must.Get(models.OpenAs("human-latent", latent.NewModel))(t), must.Get(models.Open("human-next"))(t)
	all = append(all, must.Get(clips.NewStream(next, latent.StreamOptions{Capacity: 2, Open: record}))(t))
	predictor := must.Get(models.OpenAs("human-strnn", strnn.NewModel))(t)
	all = append(all, must.Get(predictor.NewStream(strnn.StreamOptions{Capacity: 2, Open: record}))(t))
	poses := must.Get(models.OpenAs("human-keypose", keypose.NewModel))(t)
	all = append(all, must.Get(poses.NewStream(keypose.StreamOptions{Capacity: 2, Open: record}))(t))
	for _, name := range models.Characters() {
		f := must.Get(models.OpenCharacter(name))(t)
		all = append(all, must.Get(f.NewStream(matching.StreamOptions{Capacity: 2, Open: record}))(t))
	}
	for _, c := range all {
		must.Do(t, c.Close())
	}
	served := map[string]bool{}
	for _, m := range must.Get(openModels(nil))(t) {
		for _, n := range m.Nets {
			served[must.Get(n.Checksum())(t)] = true
		}
	}
	missing := 0
	for _, n := range opened {
		if !served[must.Get(n.Checksum())(t)] {
			missing++
			t.Errorf("%s from %v to %v is not served", n.Meta().Name, n.Graph().Inputs, n.Graph().Outputs)
		}
	}
	t.Logf("%d networks opened, %d served", len(opened), len(served))
	if len(opened) < 20 {
		t.Errorf("only %d networks opened", len(opened))
	}
}

// Flags that do not go together, and files that are not what they should be.
func TestNetworkFlags(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	must.Do(t, os.WriteFile(empty, nil, 0o666))
	for _, c := range []struct{ args, want string }{
		{"dog", "--grpc"}, {"--metrics localhost:1", "--grpc"}, {"--window 1ms", "--grpc"}, {"--grpc nowhere", "HOST:PORT"},
		{"--grpc localhost:0 --dir x", "--dir"}, {"--grpc localhost:0 --tls-cert " + empty, "go together"}, {"--grpc localhost:0 --window 2ms", "1ms"},
		{"--grpc localhost:0 --tls-cert EMPTY --tls-key EMPTY", "EMPTY"}, {"--grpc localhost:0 --tokens EMPTY", "no token"}, {"--grpc localhost:0 no-model", "no-model"},
		{"--grpc localhost:0 --metrics x human-next", "HOST:PORT"},
	} {
		var out, errs bytes.Buffer
		args := strings.Fields(strings.ReplaceAll(c.args, "EMPTY", empty))
		want := strings.ReplaceAll(c.want, "EMPTY", empty)
		if code := command.Run(t.Context(), New(), args, &out, &errs); code == 0 || !strings.Contains(errs.String(), want) {
			t.Errorf("%s: code %d, %s, want %q", c.args, code, &errs, want)
		}
	}
}
