package motion

import (
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/manifold"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/internal/command"
	evalmanifold "mannequin/offline/eval/manifold"
	"mannequin/offline/metrics"
	"mannequin/offline/retarget"
)

// editReport is the report of edit. before is the recorded motion with its gaps filled.
type editReport struct {
	Out     string       `json:"out"`
	Seconds float64      `json:"seconds"`
	Took    float64      `json:"took_s"` // for gaps, noise and the edit
	Steps   int          `json:"steps"`
	CostWas float64      `json:"cost_before"` // mean of a frame
	Cost    float64      `json:"cost"`
	Was     editMeasure  `json:"before"`
	Is      editMeasure  `json:"after"`
	Targets []editTarget `json:"targets,omitempty"`
	Away    float64      `json:"body_off_path_cm,omitempty"`
}

// editMeasure is the part of the report on a motion.
type editMeasure struct {
	Slide float64 `json:"slide_cm"`     // of standing feet, per frame
	Bone  float64 `json:"bone_percent"` // mean change of bones' lengths
	Hands float64 `json:"hands_jerk"`   // mean magnitude of the hands' third differences, cm per frame³
}

// editTarget is the distance of a joint from its target in the written file.
type editTarget struct {
	Joint string  `json:"joint"`
	From  float64 `json:"from_s"`
	To    float64 `json:"to_s"`
	Was   float64 `json:"before_cm"` // means over its frames
	Is    float64 `json:"after_cm"`
}

// editFlags are the flags of edit.
type editFlags struct {
	base, targets, path, contacts, denoise, strnn string
	fill                                          []string
	read                                          retarget.Reading
	feet                                          bool
	iterations, threads                           int
	budget                                        time.Duration
}

func newEdit() *cobra.Command {
	var o editFlags
	c := &cobra.Command{
		Use:   "edit MOTION... --out OUT.bvh",
		Short: "Clean a motion, fill its gaps, move it to another path or to targets",
		Long: `Edit the motion of a person on a motion manifold (Holden, Saito and Komura 2016) and write it
as BVH on the human skeleton: metres, 60 frames per second, world space. MOTION is a BVH, FBX, glTF, AMC or
TXT file of any skeleton with a retargeting profile (mannequin import --retarget).

The flags choose the steps, in this order:

  --fill JOINTS@FROM:TO  make missing joints again from one second to another:
                         LeftForeArm,LeftHand@1.5:2.5. "all" is the whole body; without times
                         it is the whole motion. Or a TOML file of [[missing]] tables with
                         joints, from and to. May be repeated
  --denoise BY           remove noise with the manifold, or with strnn, a spatio-temporal
                         recurrent network (Wang, Ho, Shum and Zhu 2019), which then also
                         fills the gaps of "all"
  --path PATH            move the body to another path, at its own speed: circle, square, star,
                         meander or a file as for synth
  --targets FILE         move joints to targets: a TOML file of [[target]] tables
  --feet                 only lock standing feet and keep the bones' lengths

A target has joint, at (x, y and z in metres), from and to in seconds. It may have space
("world", that of the written file, or "body": seen from the ground below the hips, x to the left
and z ahead), ease (seconds in which the joint comes and goes, 0.3) and weight (1).

Every edit locks standing feet and keeps the bones' lengths. Feet stand while they are low and
slow in the motion; with --contacts detect, and with --denoise, in the motion without noise.`,
		Example: `  mannequin edit walk.bvh --feet --out clean.bvh
  mannequin edit takes/*.bvh --feet --out clean
  mannequin edit noisy.bvh --denoise manifold --fill LeftForeArm,LeftHand@1.5:2.5 --out clean.bvh
  mannequin edit noisy.bvh --denoise strnn --fill all@1.5:1.8 --out clean.bvh
  mannequin edit walk.bvh --path circle --targets wave.toml --budget 200ms --out wave.bvh --json`,
	}
	cli.Converts(c, "a motion file", ".bvh", func(_ *cobra.Command, in, out string) (cli.Report, error) {
		if err := o.check(); err != nil {
			return nil, err
		}
		return o.run(in, out)
	})
	f := c.Flags()
	f.StringArrayVar(&o.fill, "fill", nil, "missing joints and their time, `JOINTS@FROM:TO`, or a TOML file; may be repeated")
	command.Choice(c, &o.denoise, "denoise", "", []string{"manifold", "strnn"}, "what removes noise")
	cli.Model(c, &o.strnn, "strnn", "human-strnn", "the network of --denoise strnn")
	f.StringVar(&o.path, "path", "", "path of the body: circle, square, star, meander, or a `file` of control points")
	f.StringVar(&o.targets, "targets", "", "TOML `file` of targets of joints")
	f.BoolVar(&o.feet, "feet", false, "only lock standing feet and keep the bones' lengths")
	command.Choice(c, &o.contacts, "contacts", "", []string{"own", "detect"}, "contacts of the motion as it is, or without noise (default: own; detect with --denoise)")
	command.Number(c, &o.iterations, "iterations", manifold.DefaultIterations, 0, 10000, "largest number of steps of the edit")
	f.DurationVar(&o.budget, "budget", 0, "`time` after which the edit stops, after one step at least: 200ms; gaps and noise count, and are finished; 0 is no limit")
	cli.Model(c, &o.base, "manifold", "human", "the motion manifold")
	input.Reading(c, &o.read)
	cli.Threads(c, &o.threads)
	return c
}

func (o *editFlags) check() error {
	others := o.denoise != "" || len(o.fill) > 0 || o.path != "" || o.targets != ""
	switch {
	case !o.feet && !others:
		return command.Usagef("nothing to do: want --fill, --denoise, --path, --targets or --feet")
	case o.feet && others:
		return command.Usagef("--feet is for feet alone: --fill, --denoise, --path and --targets lock them, too")
	case o.contacts == "own" && o.denoise != "":
		return command.Usagef("--contacts own and --denoise: noise hides the contacts, want detect")
	case o.budget < 0:
		return command.Usagef("--budget is %v, want 0 or more", o.budget)
	}
	return nil
}

func (o *editFlags) run(file, out string) (*editReport, error) {
	m, err := input.OpenManifold(o.base)
	if err != nil {
		return nil, err
	}
	clean, err := o.openCleaner(m)
	if err != nil {
		return nil, err
	}
	defer clean.close()
	var path *control.Path
	if o.path != "" {
		if path, err = input.OpenPath(o.path); err != nil {
			return nil, err
		}
	}
	rows, start, err := evalmanifold.OpenPerson(m, file, o.read)
	if err != nil {
		return nil, err
	}
	frames := len(rows) / m.Layout.Columns()
	gaps, err := openGaps(o.fill, m.Layout, frames)
	if err != nil {
		return nil, err
	}
	targets, err := openTargets(o.targets, "world", "body")
	if err != nil {
		return nil, err
	}
	if err := targets.check(m, frames); err != nil { // before time is spent
		return nil, err
	}
	at := time.Now()
	if len(gaps) > 0 {
		if rows, err = clean.fill(rows, gaps, o.iterations); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	was, wasAt := slices.Clone(rows), start
	stand := evalmanifold.Contacts(m.Layout, rows)
	if o.denoise != "" || o.contacts == "detect" {
		calm, calmAt, err := clean.withoutNoise(rows, start)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if stand, err = standing(m, calm, &calmAt); err != nil {
			return nil, err
		}
		if o.denoise != "" {
			rows, start = calm, calmAt
		}
	}
	level := make([]float32, len(stand))
	m.Layout.Level(level, rows, manifold.Rate)
	job := &manifold.Edit{Batch: 1, Length: frames, Rows: rows, Stand: stand, Level: level, Calm: true, Iterations: o.iterations}
	if path == nil && o.denoise == "" { // feet slide little so far: those that still do after a while are stepping
		job.Loosen = manifold.DefaultLoosen
	}
	if path != nil {
		course, err := m.Trajectory(rows, start).Follow(path)
		if err != nil {
			return nil, fmt.Errorf("%s along --path %s: %w", file, o.path, err)
		}
		start, job.Body = course[0], make([]float32, frames*feature.MotionLen)
		course.BodyMotion(job.Body)
	}
	if err := targets.aim(m, job, start); err != nil {
		return nil, err
	}
	if clean.strnn != nil {
		if err := m.Hold(job, 0, manifold.DefaultHold); err != nil {
			return nil, err
		}
	}
	e, err := m.NewEditor(manifold.EditorOptions{Batch: 1, Length: frames, Workers: o.threads})
	if err != nil {
		return nil, err
	}
	defer e.Close()
	rep := &editReport{Out: out}
	if rep.CostWas, err = costOf(e, job, was); err != nil {
		return nil, err
	}
	if o.budget > 0 {
		end := at.Add(o.budget)
		job.Stop = func() bool { return time.Now().After(end) }
	}
	edit := e.Run
	if path != nil {
		edit = e.RunCentred
	}
	r, err := edit(job)
	if err != nil {
		return nil, err
	}
	if r.Failed > 0 {
		return nil, fmt.Errorf("%s: no such motion was found: its values leave the range of numbers", file)
	}
	rep.Steps, rep.Cost, rep.Took = r.Steps, r.After, time.Since(at).Seconds()
	if rep.Was, _, err = measure(m, was, job.Stand, wasAt, nil); err != nil {
		return nil, err
	}
	var course manifold.Trajectory
	if path != nil {
		course = m.Trajectory(rows, start)
	}
	if rep.Is, rep.Away, err = measure(m, job.Rows, job.Stand, start, course); err != nil {
		return nil, err
	}
	made, err := m.Clip(job.Rows, manifold.Rate, start)
	if err != nil {
		return nil, err
	}
	rep.Seconds = made.Seconds()
	if rep.Targets, err = targets.measure(m, job.Rows, was, made, start); err != nil {
		return nil, err
	}
	return rep, writeClip(out, made)
}

// costOf returns the mean cost of a frame of rows as the result of job.
func costOf(e *manifold.Editor, job *manifold.Edit, rows []float32) (float64, error) {
	same := *job
	same.Rows, same.Iterations = slices.Clone(rows), 0
	r, err := e.Run(&same)
	return r.Before, err
}

func measure(m *manifold.Model, rows, stand []float32, start feature.Place, course manifold.Trajectory) (editMeasure, float64, error) {
	p, err := metrics.MeasurePeople(m, rows, stand, start, course)
	return editMeasure{p.Skate, p.Bone, p.Hands}, p.Away, err
}

func (r *editReport) Print(w io.Writer) error {
	fmt.Fprintf(w, "%s: %.1f s of motion in %.2f s, %d steps of editing\n", r.Out, r.Seconds, r.Took, r.Steps)
	for _, t := range r.Targets {
		fmt.Fprintf(w, "%s from %.2f to %.2f s: %.2f cm from its target, before %.1f\n", t.Joint, t.From, t.To, t.Is, t.Was)
	}
	if r.Away > 0 {
		fmt.Fprintf(w, "body off the path: %.2f cm\n", r.Away)
	}
	fmt.Fprintf(w, "cost %.3g, before %.3g; standing feet slide %.3f cm/frame, before %.3f; bones change by %.2f %%, before %.2f; the hands' jerk is %.3f cm/frame³, before %.3f",
		r.Cost, r.CostWas, r.Is.Slide, r.Was.Slide, r.Is.Bone, r.Was.Bone, r.Is.Hands, r.Was.Hands)
	if n := float64(len(r.Targets)); n > 0 {
		var is, was float64
		for _, t := range r.Targets {
			is, was = is+t.Is/n, was+t.Was/n
		}
		fmt.Fprintf(w, "; joints %.2f cm from their targets, before %.1f", is, was)
	}
	_, err := fmt.Fprintln(w)
	return err
}

// frameOf returns the frame nearest to a time in seconds.
func frameOf(seconds float64) int { return int(math.Round(seconds * manifold.Rate)) }
