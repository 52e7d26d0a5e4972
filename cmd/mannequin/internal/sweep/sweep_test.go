package sweep

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"mannequin/internal/command"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testcli"
)

// The test binary is also the program that does runs: "train --rate R --kind K --json" reports a loss.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-test.") {
		var rate float64
		var kind, out string
		var asJSON bool
		c := &cobra.Command{Use: "train", RunE: func(*cobra.Command, []string) error {
			if kind == "bad" {
				return fmt.Errorf("no recordings")
			}
			fmt.Printf("{\"best\": {\"loss\": %g}}\n", rate+float64(len(kind)))
			return os.WriteFile(out, nil, 0o666)
		}}
		c.Flags().Float64Var(&rate, "rate", 0, "")
		c.Flags().StringVar(&kind, "kind", "", "")
		c.Flags().StringVar(&out, "out", "", "")
		c.Flags().BoolVar(&asJSON, "json", false, "")
		c.Flags().Int("threads", 0, "")
		command.Main(testcli.Root(c))
	}
	os.Exit(m.Run())
}

func mannequin(args ...string) (code int, stdout, stderr string) {
	return testcli.Run(testcli.Root(New()), append([]string{"sweep"}, args...)...)
}

const someGrid = "run = \"train --out {out}.x --json\"\nmetric = \"best.loss\"\n[values]\nrate = [1, 0.5]\nkind = [\"aa\", \"b\"]\n"

func TestSweep(t *testing.T) {
	dir := t.TempDir()
	grid, out := testcli.WriteFile(t, dir, "grid.toml", someGrid), filepath.Join(dir, "sweep")
	if code, stdout, errs := mannequin("plan", grid, "--out", out); code != 0 || !strings.Contains(stdout, "4 runs") {
		t.Fatalf("plan: exit %d: %s%s", code, stdout, errs)
	}
	script := string(must.Get(os.ReadFile(filepath.Join(out, arrayFile)))(t))
	for _, want := range []string{"--array=0-3\n", "sweep run '" + out + "' --only \"$SLURM_ARRAY_TASK_ID\"", "scontrol requeue"} {
		if !strings.Contains(script, want) {
			t.Errorf("the script has no %q:\n%s", want, script)
		}
	}
	if code, _, errs := mannequin("gather", out); code != 1 || !strings.Contains(errs, "none of its 4 runs") {
		t.Errorf("nothing to gather: exit %d: %s", code, errs)
	}
	if code, _, errs := mannequin("run", out, "--only", "2", "--threads", "1"); code != 0 {
		t.Fatalf("one run: exit %d: %s", code, errs)
	}
	if code, stdout, _ := mannequin("gather", out); code != 0 || stdout != "run\tkind\trate\tbest.loss\n2\tb\t1\t2\n3 runs have no report yet: [0 1 3]\n" {
		t.Errorf("one run gathered: exit %d: %q", code, stdout)
	}
	must.Do(t, os.WriteFile(filepath.Join(out, "0002", reportFile), []byte(`{"best": {"loss": 7}}`), 0o666)) // is not run again
	if code, _, errs := mannequin("run", out); code != 0 {
		t.Fatalf("the others: exit %d: %s", code, errs)
	}
	want := "run\tkind\trate\tbest.loss\n3\tb\t0.5\t1.5\n1\taa\t0.5\t2.5\n0\taa\t1\t3\n2\tb\t1\t7\n"
	if code, stdout, _ := mannequin("gather", out); code != 0 || stdout != want {
		t.Errorf("all: exit %d: %q, want %q", code, stdout, want)
	}
	if got := string(must.Get(os.ReadFile(filepath.Join(out, tableFile)))(t)); got != want {
		t.Errorf("the table: %q", got)
	}
	for _, f := range []string{plotFile, "0001/out.x", "0001/" + logFile} {
		must.Get(os.Stat(filepath.Join(out, f)))(t)
	}
	// The same plan again keeps what there is; another one does not come into the same folder by mistake.
	if code, _, errs := mannequin("plan", grid, "--out", out); code != 0 {
		t.Errorf("the same plan: exit %d: %s", code, errs)
	}
	other := testcli.WriteFile(t, dir, "other.toml", strings.Replace(someGrid, "0.5", "0.25", 1))
	if code, _, errs := mannequin("plan", other, "--out", out); code != 1 || !strings.Contains(errs, "--force") {
		t.Errorf("another plan: exit %d: %s", code, errs)
	}
	if code, stdout, _ := mannequin("gather", out); code != 0 || stdout != want {
		t.Errorf("after refused plans: exit %d: %q", code, stdout)
	}
	if code, _, errs := mannequin("plan", other, "--out", out, "--force"); code != 0 {
		t.Errorf("another plan with --force: exit %d: %s", code, errs)
	}
	if code, _, errs := mannequin("gather", out); code != 1 || !strings.Contains(errs, "none") {
		t.Errorf("reports of a former sweep count: exit %d: %s", code, errs)
	}
}

func TestSweepFails(t *testing.T) {
	dir := t.TempDir()
	grid, out := testcli.WriteFile(t, dir, "grid.toml", strings.Replace(someGrid, `"b"`, `"bad"`, 1)), filepath.Join(dir, "sweep")
	if code, _, errs := mannequin("plan", grid, "--out", out); code != 0 {
		t.Fatal(errs)
	}
	code, _, errs := mannequin("run", out)
	if code != 1 || strings.Count(errs, "no recordings") != 2 || !strings.Contains(errs, "run 2 (--kind bad --rate 1)") {
		t.Errorf("runs that fail: exit %d: %s", code, errs)
	}
	if code, stdout, _ := mannequin("gather", out); code != 0 || !strings.Contains(stdout, "2 runs have no report yet") {
		t.Errorf("gathered: %s", stdout)
	}
	must.Do(t, os.WriteFile(filepath.Join(out, "0000", reportFile), []byte("{}"), 0o666))
	if code, _, errs := mannequin("gather", out); code != 1 || !strings.Contains(errs, "has no best.loss") {
		t.Errorf("a report without the metric: %s", errs)
	}
	if code, _, errs := mannequin("run", out, "--only", "4"); code != 2 || !strings.Contains(errs, "0 to 3") {
		t.Errorf("no such run: exit %d: %s", code, errs)
	}
	if code, _, errs := mannequin("run", dir); code != 1 || !strings.Contains(errs, "sweep plan") {
		t.Errorf("no sweep: exit %d: %s", code, errs)
	}
	must.Do(t, os.WriteFile(filepath.Join(out, planFile), []byte(`{"runs": [["train"]], "values": [["1"]]}`), 0o666))
	if code, _, errs := mannequin("run", out); code != 1 || !strings.Contains(errs, "not whole") {
		t.Errorf("a damaged plan: exit %d: %s", code, errs)
	}
}

func TestGridRefused(t *testing.T) {
	for want, text := range map[string]string{
		"command line":    strings.Replace(someGrid, "train --out", "'train --out", 1),
		"no --json":       strings.Replace(someGrid, " --json", "", 1),
		"metric":          strings.Replace(someGrid, `"best.loss"`, `""`, 1),
		"is missing":      "run = \"train --json\"\nmetric = \"x\"\n",
		"rate is empty":   strings.Replace(someGrid, "[1, 0.5]", "[]", 1),
		"remove one":      strings.Replace(someGrid, "--json", "--json --rate=3", 1),
		"is no number":    strings.Replace(someGrid, "[1, 0.5]", "[[1]]", 1),
		"cannot run":      strings.Replace(someGrid, "train", "sweep", 1),
		"more than 10000": someGrid + "a = [" + strings.Repeat("1,", 3000) + "]\n",
		"grid.toml":       "run = 3\n",
		"no such file":    "",
	} {
		dir := t.TempDir()
		grid := filepath.Join(dir, "grid.toml")
		if text != "" {
			testcli.WriteFile(t, dir, "grid.toml", text)
		}
		if code, _, errs := mannequin("plan", grid, "--out", filepath.Join(dir, "out")); code == 0 || !strings.Contains(errs, want) {
			t.Errorf("want an error with %q: exit %d: %s", want, code, errs)
		}
	}
}

// Whatever a grid and a plan say, their runs are whole.
func FuzzSweep(f *testing.F) {
	f.Add([]byte(someGrid))
	f.Add([]byte(`{"metric": "a", "flags": ["b"], "values": [["1"]], "runs": [["train"]]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		metricOf(b, "a.b")
		for _, read := range []func(string, []byte) (*plan, error){parseGrid, parsePlan} {
			p, err := read("file", b)
			if err != nil {
				continue
			}
			for i := range p.Runs {
				if len(p.Runs[i]) == 0 || len(p.Values[i]) != len(p.Flags) {
					t.Errorf("run %d: %q of %q", i, p.Values[i], p.Flags)
				}
				p.name(i)
			}
		}
	})
}
