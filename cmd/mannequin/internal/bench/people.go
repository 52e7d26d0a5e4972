package bench

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/internal/command"
	"mannequin/models/person"
	"mannequin/models/styles-free"
	"mannequin/scenes"
	street "mannequin/scenes/people"
	"mannequin/scenes/world"
)

// peopleReport is the report of bench people.
type peopleReport struct {
	Machine string  `json:"machine"`
	Threads int     `json:"threads"`
	Agents  int     `json:"agents"`
	Styled  int     `json:"styled"`  // people with a style
	Seconds float64 `json:"seconds"` // at 60 ticks each
	tickTimes
	Waits      int `json:"waits"`      // ticks that waited for windows
	Iterations int `json:"iterations"` // of the edit
}

func newBenchPeople() *cobra.Command {
	var o street.Options
	var seconds float64
	c := &cobra.Command{
		Use:   "people",
		Short: "Time the tick of people walking and running on curves, at 60 ticks a second",
		Long: `Time a steady crowd of people walking and running along lanes on hills. Another goroutine
computes the windows of their motion while the ticks run at 60 a second, as in a game. A
tick's time is what the game waits for it. "flat out" is a tick without pauses in between,
which includes the time for the windows.`,
		Example: `  mannequin bench people
  mannequin bench people --agents 50 --threads 1 --json
  mannequin bench people --agents 50 --styled 50`,
		Args: cobra.NoArgs,
	}
	cli.Reports(c, func(cmd *cobra.Command, _ []string) (cli.Report, error) {
		if o.Styled > o.Agents {
			return nil, command.Usagef("--styled is %d, want at most the %d people of --agents", o.Styled, o.Agents)
		}
		o.Seed = 1
		var err error
		if o.Networks, err = person.Open(); err != nil {
			return nil, err
		}
		if o.Styled > 0 {
			if o.Styles, err = stylesfree.Open(); err != nil {
				return nil, err
			}
		}
		return benchPeople(cmd.Context(), o, seconds)
	})
	command.Number(c, &o.Agents, "agents", 200, 1, world.MaxAgents, "number of people")
	command.Number(c, &o.Styled, "styled", 0, 0, world.MaxAgents, "number of people with a style each, frame by frame (mar, styles-free)")
	cli.Threads(c, &o.Workers)
	command.Number(c, &o.Iterations, "iterations", 0, 0, 1000, "steps of each window's edit")
	command.Number(c, &seconds, "seconds", 20, 0.1, 3600, "duration at 60 ticks a second")
	return c
}

// benchPeople times one scene.
func benchPeople(ctx context.Context, o street.Options, seconds float64) (peopleReport, error) {
	r := peopleReport{Machine: machine(), Threads: o.Workers, Agents: o.Agents, Styled: o.Styled, Seconds: seconds, Iterations: o.Iterations}
	s, err := street.New(o)
	if err != nil {
		return r, err
	}
	defer s.Close()
	// By then everyone walks, and their windows are no longer due all at once.
	const warm = 600
	r.tickTimes, err = timeTicks(ctx, s, s.Schedule, warm, int(seconds*scenes.TickRate), batchedStages, func() { s.Stream.Waits = 0 })
	r.Waits = s.Stream.Waits
	return r, err
}

func (r peopleReport) Print(w io.Writer) error {
	fmt.Fprintf(w, "%d people, %d of them in a style, %d threads, %s; %g s at 60 ticks a second, %d ticks waited for windows\nmilliseconds per tick\n\n", r.Agents, r.Styled, r.Threads, r.Machine, r.Seconds, r.Waits)
	return printTicks(w, []int{r.Agents}, []tickTimes{r.tickTimes})
}
