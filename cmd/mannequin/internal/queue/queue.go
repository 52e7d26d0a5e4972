// Package queue has the commands that run one command on many files, here or by workers elsewhere.
package queue

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-shellwords"
	"github.com/spf13/cobra"

	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/internal/command"
	"mannequin/offline/queue"
)

// Commands returns the commands queue and work.
func Commands() []*cobra.Command { return []*cobra.Command{newQueue(), newWork()} }

// backoff is the time before a job that failed is tried again; it doubles from try to try.
const backoff = 2 * time.Second

// flags are the flags that queue and work share.
type flags struct {
	nats, name, creds string
	workers, tries    int
	timeout           time.Duration
}

func (f *flags) add(c *cobra.Command, url string) {
	c.Flags().StringVar(&f.nats, "nats", "", url)
	c.Flags().StringVar(&f.name, "name", "mannequin", "`name` of the queue on the server")
	c.Flags().StringVar(&f.creds, "creds", "", "`file` of credentials for the server")
	command.Number(c, &f.workers, "workers", runtime.GOMAXPROCS(0), 1, 1024, "jobs at a time on this machine")
	command.Number(c, &f.tries, "tries", 3, 1, 100, "how often a job that fails is tried")
	c.Flags().DurationVar(&f.timeout, "timeout", time.Hour, "`time` after which a job is ended and counts as failed")
}

func (f *flags) runner() (*queue.Runner, error) {
	if f.timeout <= 0 {
		return nil, command.Usagef("--timeout is %v, want more than 0", f.timeout)
	}
	r, err := queue.NewRunner(f.timeout)
	if err != nil {
		return nil, err
	}
	r.Cores = max(1, runtime.GOMAXPROCS(0)/f.workers)
	return r, nil
}

type queueFlags struct {
	flags
	do, out, ext string
}

func newQueue() *cobra.Command {
	var o queueFlags
	c := &cobra.Command{
		Use:   "queue INPUT... --do 'COMMAND' --out FOLDER",
		Short: "Run a command on many files, by processes here or by workers elsewhere",
		Long: `Run a command of mannequin on each INPUT, a file or a folder. COMMAND is its command line
without "mannequin": the input comes last and --out is added, unless the line says where by
{in} and {out}. What a command without --out prints is the output. Files and folders that the
line names go along. Commands: ` + strings.Join(queue.Commands, ", ") + `.

Each output is written whole or not at all. ` + queue.Journal + ` in FOLDER says which are done:
the same command goes on after it was stopped, and does again what has changed.

With --nats the jobs go to a server of NATS JetStream, and mannequin work on any number of
machines does them. Files go through the server. Workers must be the same build of
mannequin. The same job is not done twice, also if several people queue it: results stay on
the server for two weeks. Jobs stay in the queue if this command is stopped.

A job that fails is tried again after 2 s, 4 s and so on, but not if its command line is
wrong. One that fails to the end is reported here, and is a message with its error in the
server's stream NAME-dead.`,
		Example: `  mannequin queue takes/*.fbx --do 'import --retarget' --out clips
  mannequin queue clips/*.bvh --do 'stylize --style styles-gram:sneaking' --out sneaking --nats nats://server
  mannequin queue clips/*.bvh --do 'judge --json {in} --ref recorded' --out judged
  mannequin queue packs/* --do 'make' --ext .character --out characters --nats tls://server:4222 --creds me.creds`,
		Args: command.Want("files or folders", 1, -1),
	}
	o.add(c, "`URL` of the NATS server (default: processes on this machine)")
	c.Flags().StringVar(&o.do, "do", "", "`command` line of mannequin")
	cli.Must(c.MarkFlagRequired("do"))
	command.Out(c, &o.out, command.Folder, "`folder` for the outputs, which are named like their inputs")
	c.Flags().StringVar(&o.ext, "ext", "", "`extension` of the outputs (default: .bvh; .json or .txt for what is printed)")
	cli.Reports(c, func(cmd *cobra.Command, args []string) (cli.Report, error) { return o.run(cmd, args) })
	return c
}

// line returns the arguments of --do, and whether its command prints its output.
func (o *queueFlags) line(root *cobra.Command) (args []string, prints bool, err error) {
	if args, err = shellwords.Parse(o.do); err != nil || len(args) == 0 {
		return nil, false, command.Usagef("--do %q: want the command line of a command, with quotes that match", o.do)
	}
	if !slices.Contains(queue.Commands, args[0]) {
		return nil, false, command.Usagef("--do %q: want one of %s", o.do, strings.Join(queue.Commands, ", "))
	}
	c, _, err := root.Find(args)
	if err != nil {
		return nil, false, command.Usage(err)
	}
	has := func(mark string) bool {
		return slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, mark) })
	}
	prints = c.Flags().Lookup("out") == nil
	if !has(queue.In) {
		args = append(args, queue.In)
	}
	if !prints && !has(queue.Out) {
		args = append(args, "--out", queue.Out)
	}
	if o.ext == "" {
		o.ext = ".bvh"
		if prints {
			o.ext = ".txt"
			if slices.Contains(args, "--json") {
				o.ext = ".json"
			}
		}
	}
	if !strings.HasPrefix(o.ext, ".") || strings.ContainsAny(o.ext, `/\`) {
		return nil, false, command.Usagef("--ext %q: want an extension, as .bvh", o.ext)
	}
	return args, prints, nil
}

func (o *queueFlags) run(cmd *cobra.Command, inputs []string) (cli.Report, error) {
	args, prints, err := o.line(cmd.Root())
	if err != nil {
		return nil, err
	}
	runner, err := o.runner()
	if err != nil {
		return nil, err
	}
	batch, err := queue.NewBatch(args, inputs, o.ext, prints)
	if err != nil {
		return nil, err
	}
	out, err := queue.OpenFolder(o.out)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	bar := cli.NewProgress(cmd.Context(), cmd.ErrOrStderr())
	opt := queue.Options{Tries: o.tries, Backoff: backoff}
	last := ""
	opt.Progress = func(p queue.Progress) {
		what := fmt.Sprintf("%d of %d", p.Done+p.Failed, p.Jobs)
		if p.Failed > 0 {
			what += fmt.Sprintf(", %d failed", p.Failed)
		}
		if p.Note != "" {
			what += ": " + p.Note
		}
		bar.Stage(what)
		bar.Step(p.Done+p.Failed, p.Jobs)
		if p.Note != last && p.Note != "" && !cli.IsTerminal(cmd.ErrOrStderr()) {
			fmt.Fprintln(cmd.ErrOrStderr(), command.Plain(p.Note))
		}
		last = p.Note
	}
	start := time.Now()
	p, failures, err := o.start(cmd.Context(), batch, runner, out, opt)
	bar.Finish()
	if err != nil {
		if cmd.Context().Err() != nil {
			return nil, fmt.Errorf("interrupted with %d of %d done: the same command goes on", p.Done, p.Jobs)
		}
		return nil, err
	}
	r := &queueReport{Out: o.out, Jobs: p.Jobs, Done: p.Done, Had: p.Had, Seconds: time.Since(start).Seconds()}
	for _, f := range failures {
		r.Failed = append(r.Failed, failedJob{filepath.Base(f.Job.In), f.Result.Error, f.Result.Fails})
	}
	slices.SortFunc(r.Failed, func(a, b failedJob) int { return strings.Compare(a.Input, b.Input) })
	if len(r.Failed) > 0 {
		if err := cli.PrintReport(cmd.OutOrStdout(), r, cmd.Flag("json").Changed); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%d of %d jobs failed", len(r.Failed), r.Jobs)
	}
	return r, nil
}

func (o *queueFlags) start(ctx context.Context, b *queue.Batch, r *queue.Runner, out *queue.Folder, opt queue.Options) (queue.Progress, []queue.Failure, error) {
	if o.nats == "" {
		return b.RunLocal(ctx, r, o.workers, out, opt)
	}
	s, err := queue.Dial(ctx, o.nats, o.name, o.creds)
	if err != nil {
		return queue.Progress{}, nil, err
	}
	defer s.Close()
	return s.Run(ctx, b, out, opt)
}

type failedJob struct {
	Input string `json:"input"`
	Error string `json:"error"`
	Tries int    `json:"tries"`
}

type queueReport struct {
	Out     string      `json:"out"`
	Jobs    int         `json:"jobs"`
	Done    int         `json:"done"`
	Had     int         `json:"had"` // of Done, those that were there before
	Failed  []failedJob `json:"failed,omitempty"`
	Seconds float64     `json:"seconds"`
}

func (r *queueReport) Print(w io.Writer) error {
	for _, f := range r.Failed {
		fmt.Fprintf(w, "%s failed %d times: %s\n", command.Plain(f.Input), f.Tries, command.Plain(f.Error))
	}
	had := ""
	if r.Had > 0 {
		had = fmt.Sprintf(", %d of them before", r.Had)
	}
	_, err := fmt.Fprintf(w, "%s: %d of %d done%s, in %.1f s\n", command.Plain(r.Out), r.Done, r.Jobs, had, r.Seconds)
	return err
}
