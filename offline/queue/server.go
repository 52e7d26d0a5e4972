package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"mannequin/internal/boundedfile"
)

const (
	// ackWait is how long the server waits for a sign of life of a worker before another gets the job.
	ackWait = 10 * time.Second
	// keepFor is how long the server keeps files and results, and jobs that nobody takes.
	keepFor = 14 * 24 * time.Hour
	// mostLost is how often a job's worker may vanish before the job is taken for the cause.
	mostLost = 50
	// callWait bounds one call of the server.
	callWait = 30 * time.Second
	// perSubject is the server's code for a message that a stream does not take, as for a subject that has one.
	perSubject = 10077
)

// Server is a connection to a server of NATS JetStream. Queues with different names do not meet.
// A lost connection is made again: calls wait for it.
type Server struct {
	name    string
	conn    *nats.Conn
	js      jetstream.JetStream
	files   jetstream.ObjectStore // by hash
	results jetstream.KeyValue    // Result as JSON, by job
	jobs    jetstream.Stream
}

var nameOf = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)

// Dial connects to the server at url, and makes the queue there if it is new. creds is a file of
// credentials; empty: none.
func Dial(ctx context.Context, url, name, creds string) (*Server, error) {
	if !nameOf.MatchString(name) {
		return nil, fmt.Errorf("queue: the name %q: want up to 32 lower-case letters, digits and hyphens", name)
	}
	opts := []nats.Option{nats.Name("mannequin"), nats.MaxReconnects(-1), nats.ReconnectWait(200 * time.Millisecond), nats.Timeout(5 * time.Second)}
	if creds != "" {
		opts = append(opts, nats.UserCredentials(creds))
	}
	conn, err := nats.Connect(url, opts...)
	if err != nil {
		return nil, fmt.Errorf("cannot reach the NATS server at %s: %w", url, err)
	}
	s := &Server{name: name, conn: conn}
	if err := s.open(ctx); err != nil {
		conn.Close()
		if errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, nats.ErrNoResponders) {
			err = errors.New("it runs without JetStream: start it as nats-server -js")
		}
		return nil, fmt.Errorf("NATS server at %s: %w", url, err)
	}
	return s, nil
}

func (s *Server) open(ctx context.Context) (err error) {
	ctx, stop := context.WithTimeout(ctx, callWait)
	defer stop()
	if s.js, err = jetstream.New(s.conn); err != nil {
		return err
	}
	if s.files, err = s.js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: s.name + "-files", TTL: keepFor}); err != nil {
		return err
	}
	if s.results, err = s.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: s.name + "-results", TTL: keepFor}); err != nil {
		return err
	}
	// One message a subject, and a subject a job: a job that waits is not queued twice.
	if s.jobs, err = s.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: s.name + "-jobs", Subjects: []string{s.subject("jobs", "*", "*")},
		Retention: jetstream.WorkQueuePolicy, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true, MaxMsgsPerSubject: 1, MaxAge: keepFor}); err != nil {
		return err
	}
	_, err = s.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: s.name + "-dead", Subjects: []string{s.subject("dead", "*", "*")}, MaxMsgsPerSubject: 1, MaxAge: keepFor})
	return err
}

// Close ends the connection.
func (s *Server) Close() { s.conn.Close() }

func (s *Server) subject(kind, program, job string) string {
	return strings.Join([]string{s.name, kind, program, job}, ".")
}

// consumer returns what shares the jobs of a program among its workers.
func (s *Server) consumer(ctx context.Context, program string) (jetstream.Consumer, error) {
	return s.jobs.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{Durable: "workers-" + program, FilterSubject: s.subject("jobs", program, "*"),
		AckPolicy: jetstream.AckExplicitPolicy, AckWait: ackWait, MaxDeliver: -1, MaxAckPending: 10000})
}

// upload puts a file on the server unless it is there.
func (s *Server) upload(ctx context.Context, sum, file string) error {
	if _, err := s.files.GetInfo(ctx, sum); err == nil {
		return nil
	} else if !errors.Is(err, jetstream.ErrObjectNotFound) {
		return err
	}
	f, err := boundedfile.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = s.files.Put(ctx, jetstream.ObjectMeta{Name: sum}, f)
	return err
}

// write writes a file of the server. Its size is bounded.
func (s *Server) write(ctx context.Context, w io.Writer, sum string) error {
	r, err := s.files.Get(ctx, sum)
	if err != nil {
		return fmt.Errorf("file %s of the server: %w", sum, err)
	}
	defer r.Close()
	n, err := io.Copy(w, io.LimitReader(r, MaxFile+1))
	if err == nil && n > MaxFile {
		err = fmt.Errorf("file %s of the server: more than %d bytes", sum, MaxFile)
	}
	return err
}

// fetch puts a file of the server at a path, and makes sure that it is the one.
func (s *Server) fetch(ctx context.Context, sum, to string) error {
	if err := fill(to, func(w io.Writer) error { return s.write(ctx, w, sum) }); err != nil {
		return err
	}
	if got, err := Sum(to); err != nil || got != sum {
		return errors.Join(err, fmt.Errorf("file %s of the server has the hash %s", sum, got))
	}
	return nil
}

// result returns what is known of a job: nothing, how often it failed, or how it ended.
func (s *Server) result(ctx context.Context, job string) (r Result, known bool, err error) {
	e, err := s.results.Get(ctx, job)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return r, false, nil
	}
	if err == nil {
		r, err = readResult(e.Value())
	}
	return r, err == nil, err
}

// readResult reads a result that came from elsewhere.
func readResult(b []byte) (r Result, err error) {
	if err := json.Unmarshal(b, &r); err != nil {
		return r, fmt.Errorf("queue: a result that is no JSON: %w", err)
	}
	if len(r.Outs) > maxFiles {
		return r, fmt.Errorf("queue: a result of %d files: want at most %d", len(r.Outs), maxFiles)
	}
	for _, o := range r.Outs {
		if !plain(o.Name) || !validSum(o.Sum) {
			return r, fmt.Errorf("queue: a result with the file %q and hash %q", o.Name, o.Sum)
		}
	}
	return r, nil
}

func (s *Server) putResult(ctx context.Context, job string, r Result) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = s.results.Put(ctx, job, b)
	return err
}

// again calls f until it succeeds or ctx ends: servers are restarted. note says why it waits.
func again(ctx context.Context, note func(string), f func(ctx context.Context) error) error {
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		call, stop := context.WithTimeout(ctx, callWait)
		err := f(call)
		stop()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if local(err) {
			return err
		}
		note("waits for the server: " + err.Error())
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// local reports whether an error is one of files of this machine, which waiting does not mend.
func local(err error) bool {
	return errors.As(err, new(*os.PathError)) || errors.As(err, new(permanent))
}
