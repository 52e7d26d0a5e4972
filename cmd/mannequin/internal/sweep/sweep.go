// Package sweep has the commands that run one command with every combination of values of its flags.
package sweep

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/mattn/go-shellwords"
	"github.com/spf13/cobra"

	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/internal/atomicfile"
	"mannequin/internal/boundedfile"
	"mannequin/internal/boundedtoml"
	"mannequin/internal/command"
	"mannequin/offline/chart"
)

// New returns the command sweep.
func New() *cobra.Command {
	return cli.Group("sweep", "Train with every combination of some values, here or as a Slurm job array", newPlan(), newRun(), newGather())
}

// grid is what a grid file says, and what a folder of a sweep keeps.
type grid struct {
	Run    string           `toml:"run" json:"run"`       // a command line; {out} is a name in the run's folder
	Metric string           `toml:"metric" json:"metric"` // member of the command's JSON report
	Values map[string][]any `toml:"values" json:"values"` // by flag
}

// Files of a sweep's folder.
const (
	planFile   = "sweep.json"
	arrayFile  = "array.sh"
	reportFile = "report.json" // of a run
	logFile    = "log.txt"
	tableFile  = "runs.tsv"
	plotFile   = "runs.png"
)

const (
	mostRuns  = 10000
	mostBytes = 16 << 20 // of a grid file or a report
)

// plan is a sweep: the command lines of all runs.
type plan struct {
	Metric string     `json:"metric"`
	Flags  []string   `json:"flags"`  // that vary
	Values [][]string `json:"values"` // of the flags, by run
	Runs   [][]string `json:"runs"`   // arguments
}

func newPlan() *cobra.Command {
	var out string
	var force bool
	c := &cobra.Command{
		Use:   "plan GRID.toml --out FOLDER",
		Short: "Write the runs of a sweep, and a script that Slurm runs as a job array",
		Long: `Write the runs of a sweep into FOLDER, one for each combination of the values in GRID.toml:

  run = "train mann data/dog --minutes 20 --out {out}.safetensors --resume --json"
  metric = "best_held_out_loss"

  [values]
  experts = [4, 8]
  rate = [1e-4, 2e-4]

run is a command line of mannequin with --json. {out} is a file name in a folder of the run's
own; other paths are relative to the folder where the runs start. metric is a member of the
report. values has flags of the command, and what they are in turn.

FOLDER/` + arrayFile + ` is for sbatch, in the folder where the paths of run are right.`,
		Example: `  mannequin sweep plan grid.toml --out sweep
  sbatch sweep/array.sh
  mannequin sweep gather sweep`,
		Args: command.Want("one grid file", 1, 1),
	}
	command.Out(c, &out, command.Folder, "`folder` of the sweep")
	c.Flags().BoolVar(&force, "force", false, "replace a sweep that is there, with its reports")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		p, err := readGrid(args[0])
		if err != nil {
			return err
		}
		if old, err := readPlan(out); err == nil && !force && !same(old, p) {
			return fmt.Errorf("%s has another sweep: choose another folder, or replace it with --force", out)
		}
		if err := p.write(out, force); err != nil {
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %d runs; sbatch %s, or mannequin sweep run %s\n", command.Plain(out), len(p.Runs),
			command.Plain(filepath.Join(out, arrayFile)), command.Plain(out))
		return err
	}
	return c
}

func same(a, b *plan) bool {
	x, errA := json.Marshal(a)
	y, errB := json.Marshal(b)
	return errA == nil && errB == nil && bytes.Equal(x, y)
}

// readGrid reads a grid file and lists its runs.
func readGrid(path string) (*plan, error) {
	text, err := boundedfile.Read(path, mostBytes)
	if err != nil {
		return nil, err
	}
	return parseGrid(path, text)
}

func parseGrid(path string, text []byte) (*plan, error) {
	var g grid
	if err := boundedtoml.Decode(path, text, &g); err != nil {
		return nil, err
	}
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%s: "+format, append([]any{path}, args...)...)
	}
	args, err := shellwords.Parse(g.Run)
	if err != nil || len(args) == 0 {
		return nil, wrong("run is %q, want a command line of mannequin, with quotes that match", g.Run)
	}
	switch {
	case args[0] == "sweep" || args[0] == "queue" || args[0] == "work" || args[0] == "serve":
		return nil, wrong("run is %q: a sweep cannot run %s", g.Run, args[0])
	case !slices.Contains(args, "--json"):
		return nil, wrong("run has no --json: the metric is a member of its report")
	case g.Metric == "":
		return nil, wrong("metric is missing: want a member of the report, such as best_held_out_loss")
	case len(g.Values) == 0:
		return nil, wrong("[values] is missing: want flags with lists of values")
	}
	p := &plan{Metric: g.Metric, Values: [][]string{nil}}
	for flag := range g.Values {
		p.Flags = append(p.Flags, flag)
	}
	slices.Sort(p.Flags)
	for _, flag := range p.Flags {
		if len(g.Values[flag]) == 0 {
			return nil, wrong("values.%s is empty", flag)
		}
		if slices.ContainsFunc(args, func(a string) bool { return a == "--"+flag || strings.HasPrefix(a, "--"+flag+"=") }) {
			return nil, wrong("run has --%s, which values has, too: remove one", flag)
		}
		var next [][]string
		for _, v := range p.Values {
			for _, x := range g.Values[flag] {
				text, err := valueOf(x)
				if err != nil {
					return nil, wrong("values.%s: %v", flag, err)
				}
				if next = append(next, append(slices.Clone(v), text)); len(next) > mostRuns {
					return nil, wrong("more than %d combinations", mostRuns)
				}
			}
		}
		p.Values = next
	}
	for _, values := range p.Values {
		run := slices.Clone(args)
		for k, flag := range p.Flags {
			run = append(run, "--"+flag+"="+values[k])
		}
		p.Runs = append(p.Runs, run)
	}
	return p, nil
}

// valueOf returns a value of a grid file as a flag takes it.
func valueOf(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), nil
	}
	return "", fmt.Errorf("%v is no number, text or boolean", v)
}

// runDir returns the name of the folder of run i.
func runDir(i int) string { return fmt.Sprintf("%04d", i) }

// write writes the plan and the script, and takes reports of a former sweep away if renew is set.
func (p *plan) write(dir string, renew bool) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if renew {
		old, err := filepath.Glob(filepath.Join(dir, "[0-9][0-9][0-9][0-9]", reportFile))
		if err != nil {
			return err
		}
		for _, f := range old {
			if err := os.Remove(f); err != nil {
				return err
			}
		}
	}
	if err := atomicfile.Write(filepath.Join(dir, planFile), func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(p)
	}); err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	full, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, arrayFile), func(w io.Writer) error {
		_, err := fmt.Fprintf(w, arrayScript, len(p.Runs)-1, filepath.Join(full, "slurm-%a.txt"), quote(exe), quote(full))
		return err
	})
}

// arrayScript is the job array. Two minutes before its time is over, a task ends its run, which writes a
// checkpoint, and queues itself again.
const arrayScript = `#!/bin/sh
# Each task is a run of the sweep. Change time, cores, memory and partition as you need.
#SBATCH --array=0-%d
#SBATCH --cpus-per-task=2
#SBATCH --time=4:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:USR1@120
#SBATCH --output=%s
%s sweep run %s --only "$SLURM_ARRAY_TASK_ID" --threads "${SLURM_CPUS_PER_TASK:-1}" &
run=$!
trap 'kill $run; wait $run; scontrol requeue "$SLURM_JOB_ID"; exit' USR1
wait $run
`

// quote quotes a word for sh.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// readPlan reads the plan of a sweep's folder.
func readPlan(dir string) (*plan, error) {
	path := filepath.Join(dir, planFile)
	b, err := boundedfile.Read(path, mostBytes)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s is no folder of a sweep: make one with mannequin sweep plan", dir)
	}
	if err != nil {
		return nil, err
	}
	return parsePlan(path, b)
}

func parsePlan(path string, b []byte) (*plan, error) {
	p := new(plan)
	if err := json.Unmarshal(b, p); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(p.Runs) == 0 || len(p.Runs) > mostRuns || len(p.Values) != len(p.Runs) {
		return nil, fmt.Errorf("%s: %d runs and %d combinations of values: make it again with mannequin sweep plan", path, len(p.Runs), len(p.Values))
	}
	for i, v := range p.Values {
		if len(v) != len(p.Flags) || len(p.Runs[i]) == 0 {
			return nil, fmt.Errorf("%s: run %d is not whole: make it again with mannequin sweep plan", path, i)
		}
	}
	return p, nil
}

func newRun() *cobra.Command {
	var only, threads int
	c := &cobra.Command{
		Use:   "run FOLDER",
		Short: "Run what a sweep has not run yet, one after the other",
		Long: `Run what a sweep has no report of yet, one run after the other. The runs of a sweep may also be
shared: --only names one, as a task of a job array does. What a run prints as it goes is in
its log.txt. If run has --resume, a run that was ended goes on.`,
		Example: `  mannequin sweep run sweep
  mannequin sweep run sweep --only 3`,
		Args: command.Want("one folder of a sweep", 1, 1),
	}
	command.Number(c, &only, "only", -1, -1, mostRuns-1, "number of the one run to do; -1 is all")
	command.Number(c, &threads, "threads", 0, 0, 1024, "threads of each run; 0 leaves it to its command line")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		p, err := readPlan(args[0])
		if err != nil {
			return err
		}
		if only >= len(p.Runs) {
			return command.Usagef("--only %d: the sweep has runs 0 to %d", only, len(p.Runs)-1)
		}
		bar := cli.NewProgress(cmd.Context(), cmd.ErrOrStderr())
		defer bar.Finish()
		var errs []error
		for i := range p.Runs {
			if only >= 0 && i != only {
				continue
			}
			bar.Stage(fmt.Sprintf("run %d of %d", i+1, len(p.Runs)))
			bar.Step(i, len(p.Runs))
			if err := p.run(cmd, args[0], i, threads); err != nil {
				if cmd.Context().Err() != nil {
					return fmt.Errorf("interrupted in run %d: the same command goes on", i)
				}
				errs = append(errs, err)
			}
		}
		return cli.Failed(errs, len(p.Runs))
	}
	return c
}

// run does run i, unless it has a report.
func (p *plan) run(cmd *cobra.Command, dir string, i, threads int) error {
	own := filepath.Join(dir, runDir(i))
	report := filepath.Join(own, reportFile)
	if _, err := os.Stat(report); err == nil {
		return nil
	}
	if err := os.MkdirAll(own, 0o777); err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	args := slices.Clone(p.Runs[i])
	for k, a := range args {
		args[k] = strings.ReplaceAll(a, "{out}", filepath.Join(own, "out"))
	}
	if threads > 0 {
		args = append(args, fmt.Sprint("--threads=", threads))
	}
	var out, errs bytes.Buffer
	c := exec.CommandContext(cmd.Context(), exe, args...)
	c.Stdout, c.Stderr = &out, &errs
	// A training that is ended writes a checkpoint.
	c.Cancel, c.WaitDelay = func() error { return c.Process.Signal(syscall.SIGTERM) }, time.Minute
	err = c.Run()
	if log := atomicfile.Write(filepath.Join(own, logFile), func(w io.Writer) error { _, err := w.Write(errs.Bytes()); return err }); log != nil {
		return log
	}
	if err != nil {
		lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
		return fmt.Errorf("run %d (%s): %w: %s", i, p.name(i), err, strings.TrimPrefix(lines[len(lines)-1], "mannequin: "))
	}
	if _, err := metricOf(out.Bytes(), p.Metric); err != nil {
		return fmt.Errorf("run %d (%s): %w", i, p.name(i), err)
	}
	return atomicfile.Write(report, func(w io.Writer) error { _, err := w.Write(out.Bytes()); return err })
}

// name says what is special in run i.
func (p *plan) name(i int) string {
	var all []string
	for k, f := range p.Flags {
		all = append(all, "--"+f+" "+p.Values[i][k])
	}
	return strings.Join(all, " ")
}

// metricOf returns a member of a JSON object; dots lead into objects within.
func metricOf(b []byte, name string) (float64, error) {
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		return 0, fmt.Errorf("its report is no JSON: %w", err)
	}
	for part := range strings.SplitSeq(name, ".") {
		m, ok := v.(map[string]any)
		if v, ok = m[part], ok && m[part] != nil; !ok {
			return 0, fmt.Errorf("its report has no %s", name)
		}
	}
	x, ok := v.(float64)
	if !ok || math.IsNaN(x) {
		return 0, fmt.Errorf("%s of its report is no number", name)
	}
	return x, nil
}

func newGather() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "gather FOLDER",
		Short: "Gather the results of a sweep in a table and a plot",
		Long: `Gather the results of a sweep: print the runs by their metric, the smallest first, and write
` + tableFile + ` and ` + plotFile + ` into FOLDER. The plot shows the metric over each flag. Runs without a report
are named.`,
		Example: `  mannequin sweep gather sweep`,
		Args:    command.Want("one folder of a sweep", 1, 1),
	}
	cli.JSON(c, &asJSON)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		p, err := readPlan(args[0])
		if err != nil {
			return err
		}
		r, err := p.gather(args[0])
		if err != nil {
			return err
		}
		if err := r.write(args[0]); err != nil {
			return err
		}
		return cli.PrintReport(cmd.OutOrStdout(), r, asJSON)
	}
	return c
}

// results are the runs of a sweep that have ended, the smallest metric first.
type results struct {
	Metric  string   `json:"metric"`
	Flags   []string `json:"flags"`
	Runs    []result `json:"runs"`
	Missing []int    `json:"missing,omitempty"` // runs without a report
}

type result struct {
	Run    int      `json:"run"`
	Values []string `json:"values"`
	Metric float64  `json:"metric"`
}

func (p *plan) gather(dir string) (*results, error) {
	r := &results{Metric: p.Metric, Flags: p.Flags}
	for i := range p.Runs {
		path := filepath.Join(dir, runDir(i), reportFile)
		b, err := boundedfile.Read(path, mostBytes)
		if errors.Is(err, os.ErrNotExist) {
			r.Missing = append(r.Missing, i)
			continue
		}
		if err != nil {
			return nil, err
		}
		x, err := metricOf(b, p.Metric)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		r.Runs = append(r.Runs, result{i, p.Values[i], x})
	}
	if len(r.Runs) == 0 {
		return nil, fmt.Errorf("%s: none of its %d runs has ended yet", dir, len(p.Runs))
	}
	slices.SortStableFunc(r.Runs, func(a, b result) int { return cmp.Compare(a.Metric, b.Metric) })
	return r, nil
}

// Print prints the table.
func (r *results) Print(w io.Writer) error {
	if err := r.table(w, func(s string) string { return command.Plain(s) }); err != nil {
		return err
	}
	if len(r.Missing) > 0 {
		_, err := fmt.Fprintf(w, "%d runs have no report yet: %v\n", len(r.Missing), r.Missing)
		return err
	}
	return nil
}

// table writes the runs as a table with tabs.
func (r *results) table(w io.Writer, plain func(string) string) error {
	line := func(cells ...string) error {
		_, err := fmt.Fprintln(w, strings.Join(cells, "\t"))
		return err
	}
	head := []string{"run"}
	for _, f := range r.Flags {
		head = append(head, plain(f))
	}
	if err := line(append(head, plain(r.Metric))...); err != nil {
		return err
	}
	for _, x := range r.Runs {
		cells := []string{fmt.Sprint(x.Run)}
		for _, v := range x.Values {
			cells = append(cells, plain(strings.ReplaceAll(v, "\t", " ")))
		}
		if err := line(append(cells, strconv.FormatFloat(x.Metric, 'g', 6, 64))...); err != nil {
			return err
		}
	}
	return nil
}

// write writes the table and the plot.
func (r *results) write(dir string) error {
	if err := atomicfile.Write(filepath.Join(dir, tableFile), func(w io.Writer) error { return r.table(w, command.Plain) }); err != nil {
		return err
	}
	var charts []chart.Chart
	for k, flag := range r.Flags {
		charts = append(charts, r.chart(k, flag))
	}
	return chart.Stack(filepath.Join(dir, plotFile), charts...)
}

// mostLines is how many lines of a plot are named.
const mostLines = 12

// chart shows the metric over the values of flag k: a line for each combination of the others' values. Values
// that are no numbers count from 1, in their order.
func (r *results) chart(k int, flag string) chart.Chart {
	c := chart.Chart{XLabel: "--" + flag, YLabel: r.Metric}
	var words []string
	runs := slices.Clone(r.Runs)
	slices.SortFunc(runs, func(a, b result) int { return cmp.Compare(a.Run, b.Run) })
	numbers := true
	for _, x := range runs {
		_, err := strconv.ParseFloat(x.Values[k], 64)
		numbers = numbers && err == nil
		if !slices.Contains(words, x.Values[k]) {
			words = append(words, x.Values[k])
		}
	}
	if !numbers {
		c.XLabel += ": " + strings.Join(words, ", ")
	}
	lines := map[string]int{}
	for _, x := range runs {
		var rest []string
		for i, f := range r.Flags {
			if i != k {
				rest = append(rest, f+" "+x.Values[i])
			}
		}
		name := strings.Join(rest, ", ")
		at, ok := lines[name]
		if !ok {
			at = len(c.Series)
			lines[name] = at
			c.Series = append(c.Series, chart.Series{Name: name})
		}
		v, _ := strconv.ParseFloat(x.Values[k], 64)
		if !numbers {
			v = float64(slices.Index(words, x.Values[k]) + 1)
		}
		l := &c.Series[at]
		l.X, l.Y = append(l.X, v), append(l.Y, x.Metric)
	}
	if len(c.Series) > mostLines {
		for i := range c.Series {
			c.Series[i].Name = ""
		}
	}
	for i := range c.Series {
		sort.Sort(byX(c.Series[i]))
	}
	return c
}

// byX sorts the points of a line.
type byX chart.Series

func (s byX) Len() int           { return len(s.X) }
func (s byX) Less(i, j int) bool { return s.X[i] < s.X[j] }
func (s byX) Swap(i, j int)      { s.X[i], s.X[j] = s.X[j], s.X[i]; s.Y[i], s.Y[j] = s.Y[j], s.Y[i] }
