package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/mann"
	"mannequin/animsys/matching"
	"mannequin/animsys/resident"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/engine/m3"
	"mannequin/internal/command"
	"mannequin/models"
	"mannequin/netruntime"
	"mannequin/netruntime/webgpu"
	"mannequin/scenes"
	"mannequin/scenes/crowd"
	"mannequin/scenes/world"
	"mannequin/terrain"
)

// residentReport is the report of bench resident.
type residentReport struct {
	Model   string        `json:"model"`
	Device  string        `json:"device"`
	Machine string        `json:"machine"`
	Threads int           `json:"threads"` // of the processor's crowd
	Rows    []residentRow `json:"rows"`
}

// residentRow is one number of agents. Times are medians over ticks, in milliseconds.
type residentRow struct {
	Agents    int     `json:"agents"`
	Ticks     int     `json:"ticks"`
	TickMS    float64 `json:"tick_ms"` // from the goals until the processor knows where all are
	TickMinMS float64 `json:"tick_min_ms"`
	FlatOutMS float64 `json:"flat_out_ms"`        // ticks after ticks: a tick is submitted when the one before has ended
	SubmitMS  float64 `json:"submit_ms"`          // of the processor, for a tick
	BonesMS   float64 `json:"bones_ms"`           // to read the bones of ten agents
	NetworkMS float64 `json:"network_ms"`         // the networks alone as sessions: inputs up, outputs down
	CPUMS     float64 `json:"cpu_ms,omitempty"`   // the whole tick of a crowd on the processor, up to world.MaxAgents
	Up        int     `json:"bytes_up_per_agent"` // a tick
	Down      float64 `json:"bytes_down_per_agent"`
	Allocs    float64 `json:"allocations_per_tick"`
}

func newBenchResident() *cobra.Command {
	var (
		model          string
		character      string
		agents         []int
		ticks, threads int
	)
	c := &cobra.Command{
		Use:   "resident",
		Short: "Time dogs or people that live on the GPU, beside their networks alone there and a crowd on the processor",
		Long: `Time the tick of dogs that live on the GPU (plan, inputs, network, pose, ground, matrices in
one submission; goals go up, roots come down), in a build with the tag webgpu (make build-webgpu).
With --character they are people or animals whose networks have learned recordings. Beside it: the
same networks as sessions, whose inputs go up and whose outputs come down, and the whole tick of as
many agents in a crowd on the processor.`,
		Example: `  mannequin bench resident
  mannequin bench resident --agents 1000,10000 --json
  mannequin bench resident --character hero --agents 1000`,
		Args: cobra.NoArgs,
	}
	cli.Reports(c, func(cmd *cobra.Command, _ []string) (cli.Report, error) {
		if err := checkAgents(agents, 1<<14); err != nil {
			return nil, err
		}
		if !webgpu.Built {
			return nil, errors.New("this program was built without WebGPU: make build-webgpu builds one with it")
		}
		device, err := webgpu.Device()
		if err != nil {
			return nil, err
		}
		work, err := residentDogs(model)
		if character != "" {
			work, err = residentPeople(character)
		}
		if err != nil {
			return nil, err
		}
		r := residentReport{Model: work.name, Device: device, Machine: machine(), Threads: threads}
		for _, n := range agents {
			row, err := benchResident(cmd.Context(), work, n, ticks, threads)
			if err != nil {
				return nil, fmt.Errorf("%d agents: %w", n, err)
			}
			r.Rows = append(r.Rows, row)
		}
		return r, nil
	})
	cli.Model(c, &model, "model", "dog", "the network")
	c.Flags().StringVar(&character, "character", "", "a shipped character's `name`, such as hero, or a file of make --train, in place of the network")
	c.MarkFlagsMutuallyExclusive("model", "character")
	c.Flags().IntSliceVar(&agents, "agents", []int{64, 256, 1000, 4000, 10000}, "numbers of agents; may be repeated")
	command.Number(c, &ticks, "ticks", 120, 1, 1_000_000, "ticks to time")
	cli.Threads(c, &threads)
	return c
}

// residentWork is what bench resident times.
type residentWork struct {
	name string
	nets []*netruntime.Net
	goal int // float32s of a goal
	open func(resident.Options) (*resident.Crowd, error)
	cpu  func(ctx context.Context, n, ticks, threads int) (ms float64, err error) // a crowd's tick on the processor
}

func residentDogs(model string) (w residentWork, err error) {
	m, err := models.OpenAs(model, mann.NewModel)
	if err != nil {
		return w, err
	}
	return residentWork{name: model, nets: []*netruntime.Net{m.Net}, goal: mann.GoalLen,
		open: func(o resident.Options) (*resident.Crowd, error) { return resident.New(m, o) },
		cpu: func(ctx context.Context, n, ticks, threads int) (float64, error) {
			row, err := benchCrowd(ctx, m, n, ticks, threads, false)
			return row.TickMS, err
		}}, nil
}

func residentPeople(character string) (w residentWork, err error) {
	f, err := models.OpenCharacter(character)
	if err != nil {
		return w, err
	}
	l := f.Learned
	if l == nil {
		return w, fmt.Errorf("%s has no networks that have learned its recordings: mannequin make --train makes some", character)
	}
	nets, played := l.Networks(), *f
	played.Plays = matching.LearnedMatching
	return residentWork{name: character, nets: []*netruntime.Net{nets.Projector, nets.Stepper, nets.Decompressor}, goal: matching.GoalLen,
		open: func(o resident.Options) (*resident.Crowd, error) { return resident.NewLearned(l, o) },
		cpu: func(ctx context.Context, n, ticks, threads int) (float64, error) {
			return benchPlayers(ctx, &played, n, ticks, threads)
		}}, nil
}

// benchPlayers returns the median time of a tick of n agents of a character in a crowd on the processor, ms.
func benchPlayers(ctx context.Context, f *matching.File, n, ticks, threads int) (float64, error) {
	s, err := crowd.New(crowd.Options{Options: world.Options{Agents: n, Workers: threads}, Character: f})
	if err != nil {
		return 0, err
	}
	defer s.Close()
	for range max(1, ticks/10) {
		if err := s.Step(scenes.Input{}); err != nil {
			return 0, err
		}
	}
	t, err := trace(ctx, s, s.Schedule, ticks, false)
	if err != nil {
		return 0, err
	}
	return median(t.whole), nil
}

// residentGoal is what an agent does in a tick: it goes around.
func residentGoal(agent, tick int) control.Goal {
	return control.Goal{Move: m3.V(0, 0, 1), Action: control.Move, Speed: control.WalkSpeed + 0.5*float32(agent%4), Turn: m3.Sin(0.01*float32(tick) + float32(agent))}
}

// benchResident times n agents.
func benchResident(ctx context.Context, w residentWork, n, ticks, threads int) (row residentRow, err error) {
	side := int(math.Ceil(math.Sqrt(float64(n))))
	field, err := terrain.Hills(terrain.Grid{Size: max(4*float32(side), 80), Cell: 1}, terrain.HillsOptions{Seed: 1, MaxSlope: 0.3})
	if err != nil {
		return row, err
	}
	c, err := w.open(resident.Options{Capacity: n, Ground: field, Workers: threads})
	if err != nil {
		return row, err
	}
	defer c.Close()
	for i := range n {
		at := feature.Place{Pos: m3.V(float32(3*(i%side)-3*side/2), 0, float32(3*(i/side)-3*side/2)), Yaw: float32(i)}
		if _, err := c.Add(at); err != nil {
			return row, err
		}
	}
	tick := 0
	step := func() error {
		for i := range n {
			if err := c.SetGoal(i, residentGoal(i, tick)); err != nil {
				return err
			}
		}
		tick++
		if ctx.Err() != nil {
			return errors.New("interrupted")
		}
		return c.Step()
	}
	timed := func(times []float64, wait bool) error {
		for i := range times {
			begin := time.Now()
			err := step()
			if wait {
				c.Root(0)
			}
			if times[i] = ms(time.Since(begin)); err != nil {
				return err
			}
		}
		return nil
	}
	times := make([]float64, ticks)
	if err := timed(make([]float64, max(resident.DefaultEvery+2, ticks/10)), true); err != nil { // memory grows until states have been copied
		return row, err
	}
	row = residentRow{Agents: n, Ticks: ticks, Up: 4 * w.goal, Down: float64(4 * mann.PoseLen)}
	var m0, m1 runtime.MemStats
	runtime.ReadMemStats(&m0)
	if err := timed(times, true); err != nil {
		return row, err
	}
	runtime.ReadMemStats(&m1)
	row.Allocs = float64(m1.Mallocs-m0.Mallocs) / float64(ticks)
	row.TickMS, row.TickMinMS = median(times), slices.Min(times)
	row.Down += float64(4*c.StateLen()) / resident.DefaultEvery

	for i := range times { // the GPU is idle before each
		c.Root(0)
		begin := time.Now()
		if err := step(); err != nil {
			return row, err
		}
		times[i] = ms(time.Since(begin))
	}
	row.SubmitMS = median(times)
	c.Root(0)
	begin := time.Now()
	if err := timed(times, false); err != nil {
		return row, err
	}
	c.Root(0)
	row.FlatOutMS = ms(time.Since(begin)) / float64(ticks)

	some := make([]int, min(n, 10))
	for i := range some {
		some[i] = i * n / len(some)
	}
	var bones []m3.Xform
	for i := range times {
		begin := time.Now()
		if bones, err = c.Bones(bones, some...); err != nil {
			return row, err
		}
		times[i] = ms(time.Since(begin))
	}
	row.BonesMS = median(times)
	if c.Device() == "" {
		return row, errors.New("the GPU was lost, or does not take so many: the processor moved the agents")
	}
	for _, net := range w.nets {
		network, err := timeWebGPU(gpuWork{name: "network", net: net, length: 1}, n, false)
		if err != nil {
			return row, err
		}
		row.NetworkMS += network.MS
	}
	if n <= world.MaxAgents {
		row.CPUMS, err = w.cpu(ctx, n, ticks, threads)
	}
	return row, err
}

func (r residentReport) Print(w io.Writer) error {
	fmt.Fprintf(w, "model %s on %s; the processor with %d threads, %s\nmilliseconds, medians\n\n", r.Model, r.Device, r.Threads, r.Machine)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "agents\ttick\tbest\tflat out\tsubmit\tbones of 10\tnetwork alone\tcrowd on cpu\tbytes up\tbytes down\tallocs/tick\t\n")
	for _, row := range r.Rows {
		fmt.Fprintf(t, "%d\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%d\t%.0f\t%.0f\t\n", row.Agents, row.TickMS, row.TickMinMS, row.FlatOutMS, row.SubmitMS, row.BonesMS,
			row.NetworkMS, row.CPUMS, row.Up*row.Agents, row.Down*float64(row.Agents), row.Allocs)
	}
	return t.Flush()
}
