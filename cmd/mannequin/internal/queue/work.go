package queue

import (
	"fmt"
	"io"
	"path"

	"github.com/spf13/cobra"

	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/internal/command"
	"mannequin/offline/queue"
)

func newWork() *cobra.Command {
	var o flags
	c := &cobra.Command{
		Use:   "work --nats URL",
		Short: "Do jobs that mannequin queue has put on a NATS server, until Ctrl-C",
		Long: `Take jobs of mannequin queue from a server of NATS JetStream and do them, until Ctrl-C or
SIGTERM. A job is given back then, and others get it at once; if a worker is killed, after
10 s. Start as many workers as you like. Each takes jobs of its own build of mannequin alone.

Jobs run as processes in folders of their own, and read and write there alone. Yet let only
those reach the server whom you would let run mannequin on this machine.`,
		Example: `  mannequin work --nats nats://server
  mannequin work --nats tls://server:4222 --creds worker.creds --workers 8`,
		Args: cobra.NoArgs,
	}
	o.add(c, "`URL` of the NATS server")
	cli.Must(c.MarkFlagRequired("nats"))
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		r, err := o.runner()
		if err != nil {
			return err
		}
		s, err := queue.Dial(cmd.Context(), o.nats, o.name, o.creds)
		if err != nil {
			return err
		}
		defer s.Close()
		out := cmd.OutOrStdout()
		fmt.Fprintf(out, "waits for jobs at %s until Ctrl-C\n", command.Plain(o.nats))
		return s.Work(cmd.Context(), r, queue.WorkOptions{Slots: o.workers, Tries: o.tries, Backoff: backoff,
			Event: func(e queue.Event) { printEvent(out, e) },
			Note:  func(why string) { fmt.Fprintln(cmd.ErrOrStderr(), command.Plain(why)) }})
	}
	return c
}

func printEvent(w io.Writer, e queue.Event) {
	in := command.Plain(path.Base(e.Job.In))
	switch {
	case e.Error == "":
		fmt.Fprintf(w, "%s %s: done in %.2f s\n", e.Job.Args[0], in, e.Took.Seconds())
	case e.Dead:
		fmt.Fprintf(w, "%s %s: failed for good: %s\n", e.Job.Args[0], in, command.Plain(e.Error))
	default:
		fmt.Fprintf(w, "%s %s: failed %d times, is tried again: %s\n", e.Job.Args[0], in, e.Fails, command.Plain(e.Error))
	}
}
