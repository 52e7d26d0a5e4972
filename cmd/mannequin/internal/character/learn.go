package character

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"time"

	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/animsys/matching"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/netruntime"
	"mannequin/offline/augment"
	"mannequin/offline/clipset"
	"mannequin/offline/eval/controller"
	"mannequin/offline/recipes"
	"mannequin/offline/train"
)

// networks is what was learned.
type networks struct {
	Of    []network `json:"of"`
	Plays string    `json:"plays"`           // the way that plays
	Bytes int64     `json:"bytes,omitempty"` // of --networks
}

// network is a way to play without clips.
type network struct {
	Way      string              `json:"way"`
	Minutes  float64             `json:"minutes"` // of training
	Measures *controller.Report  `json:"measures"`
	Poses    *controller.Learned `json:"poses,omitempty"` // of learned motion matching
	Fault    string              `json:"fault,omitempty"` // why the clips are better

	way matching.Way
}

// learnedTime is the share of the time in which learned motion matching is trained, if both are; the mode-adaptive network has the rest.
const learnedTime = 0.4

// What is trained.
const (
	both     = "both"
	matches  = "matching" // learned motion matching
	adaptive = "adaptive" // a mode-adaptive network
)

// minutes returns the time for one of the two.
func (o *options) minutes(of string) float64 {
	switch {
	case o.method == of:
		return o.train
	case of == matches:
		return learnedTime * o.train
	}
	return (1 - learnedTime) * o.train
}

// learner trains networks for a file.
type learner struct {
	*options
	progress *cli.Progress
	set      *clipset.Set
	recorded *clipset.Set // without mirror images and curves
	file     *matching.File
	subject  controller.Subject
	report   *report
}

// run trains networks on the database of a file, measures them, and chooses what plays.
func (l *learner) run(ctx context.Context) error {
	folder := l.out + ".train"
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	l.report.Networks = &networks{}
	for _, part := range []struct {
		of    string
		train func(ctx context.Context, folder string) error
	}{{matches, l.learned}, {adaptive, l.adaptive}} {
		if l.method != both && l.method != part.of {
			continue
		}
		err := part.train(ctx, folder)
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted: the same command with --resume goes on from %s", folder)
		}
		if err != nil {
			return fmt.Errorf("%w; what was trained is in %s", err, folder)
		}
	}
	l.choose()
	return os.RemoveAll(folder)
}

// learned trains learned motion matching.
func (l *learner) learned(ctx context.Context, folder string) error {
	db := l.file.Database
	m := recipes.DefaultLearned(db, l.minutes(matches))
	m.Threads, m.Resume, m.Now, m.Log, m.Folder = l.threads, l.resume, time.Now, slog.New(slog.DiscardHandler), folder
	m.Progress = func(part string, p train.Progress) { l.step("training the "+part, p.Done) }
	out, trained, err := m.Run(ctx)
	if err != nil {
		return err
	}
	n := network{}
	for _, t := range [...]*train.Report{trained.Autoencoder, trained.Stepper, trained.Projector} {
		n.Minutes += t.Seconds / 60
	}
	poses, err := controller.MeasureLearned(db, out, trained.Latent)
	if err != nil {
		return err
	}
	l.file.Learned, n.Poses = out, &poses
	return l.measure(&n, matching.LearnedMatching)
}

// adaptive trains a mode-adaptive network.
func (l *learner) adaptive(ctx context.Context, folder string) error {
	db, mirror := l.file.Database, l.set.Symmetry()
	if mirror == nil {
		l.report.Notes = append(l.report.Notes, "the skeleton has no mirror image: a mode-adaptive network is not trained")
		return nil
	}
	const perMinute, least, most = 40, 60, 900 // s
	opt := augment.Options{Seconds: min(max(perMinute*l.minutes(adaptive)/(1-learnedTime), least), most), Actions: l.set.Lasting(), Seed: 1}
	if _, ok := db.Action(control.Jump.String()); ok {
		opt.Actions = append(opt.Actions, control.Jump.String())
	}
	opt.Step = func(done, n int) { l.step("playing random ways", float64(done)/float64(n)) }
	clips, err := augment.Clips(l.recorded, db, opt)
	if err != nil {
		return err
	}
	m, err := recipes.NewAdaptive(&db.Character, clips, mirror, l.minutes(adaptive), l.threads)
	if err != nil {
		return err
	}
	m.Threads, m.Resume, m.Now, m.Log, m.Force, m.Every = l.threads, l.resume, time.Now, slog.New(slog.DiscardHandler), true, time.Minute
	m.Out, m.Checkpoint = filepath.Join(folder, "adaptive.safetensors"), filepath.Join(folder, "adaptive.checkpoint")
	m.Progress = func(p train.Progress) { l.step("training the mode-adaptive network", p.Done) }
	trained, err := m.Run(ctx)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	net, err := netruntime.Open(m.Out)
	if err != nil {
		return err
	}
	model, err := mann.NewModel(net)
	if err != nil {
		return err
	}
	if l.file.Adaptive, err = matching.NewAdaptive(db, model); err != nil {
		return err
	}
	return l.measure(&network{Minutes: trained.Seconds / 60}, matching.AdaptiveNetwork)
}

func (l *learner) step(stage string, done float64) {
	l.progress.Stage(stage)
	l.progress.Step(int(1000*done), 1000)
}

// measure measures a network.
func (l *learner) measure(n *network, way matching.Way) (err error) {
	l.progress.Stage("measuring")
	only, s := l.file.Only(way), l.subject
	s.New, s.Memory = controller.Plays(only), only.Bytes()
	if n.Measures, err = controller.Measure(s); err != nil {
		return err
	}
	n.way, n.Way, n.Fault = way, way.String(), fault(l.report.Measures, n.Measures, s.Size)
	l.report.Networks.Of = append(l.report.Networks.Of, *n)
	return nil
}

// choose says what plays: the cheapest network that measures up to the clips, or these.
func (l *learner) choose() {
	l.file.Plays = matching.Matching
	best := math.Inf(1) // µs
	for _, n := range l.report.Networks.Of {
		if n.Fault == "" && n.Measures.Micros < best {
			best, l.file.Plays = n.Measures.Micros, n.way
		}
	}
	l.report.Networks.Plays = l.file.Plays.String()
}

// fault says why clips are better than a network; empty if they are not. Both were asked for the same speeds. size is the character's.
func fault(clips, nets *controller.Report, size float32) string {
	const most = 1.25 // times the clips' measure
	answer := func(r *controller.Report) float64 { return r.Start + r.Stop + r.Turn90 + r.Turn180 }
	switch {
	case !nets.Finite:
		return "its motion is not finite"
	case answer(nets) > most*answer(clips):
		return "it answers later"
	case nets.Path.Distance > clips.Path.Distance+0.1:
		return "it leaves a path"
	case nets.Jerk.Shown > most*clips.Jerk.Shown:
		return "it jerks"
	}
	for i, v := range nets.Speeds {
		if why := misses(&clips.Speeds[i], &v, size); why != "" {
			return fmt.Sprintf("%s at %.2f m/s %s", why, v.Asked, v.Way)
		}
	}
	for _, c := range nets.Changes {
		net, like := controller.Held{Asked: c.Asked, Got: c.Got, Gait: c.Gait}, usual(clips.Changes, c.Asked)
		if why := misses(&like, &net, size); why != "" {
			return fmt.Sprintf("%s at %.2f m/s after %.2f m/s", why, c.Asked, c.From)
		}
	}
	if nets.Slide.Shown > max(nets.Slide.Clips, clips.Slide.Shown) {
		return "its feet slide"
	}
	return ""
}

// usual returns how clips hold a speed after others: the worst speed, and the mean of how far feet slip.
func usual(all []controller.Change, asked float64) (out controller.Held) {
	n := 0.0
	for _, c := range all {
		if c.Asked != asked {
			continue
		}
		if n++; n == 1 || math.Abs(c.Got-asked) > math.Abs(out.Got-asked) {
			out.Got = c.Got
		}
		out.Slip += c.Slip
	}
	out.Asked, out.Slip = asked, out.Slip/max(n, 1)
	return out
}

// misses says why the clips hold a speed better than a network; empty if they do not.
func misses(clips, net *controller.Held, size float32) string {
	const (
		near  = 0.1  // share by which a speed may be off
		slips = 0.25 // share of it by which feet may slip more than the clips'
		least = 0.1  // m/s by which they may, at any speed: the foot lock hides so much, and a body that glides slips more
	)
	off := func(h *controller.Held) float64 { return math.Abs(h.Got-h.Asked) / h.Asked }
	switch {
	case off(net) > max(near, off(clips)) && math.Abs(net.Got-clips.Got) > near*clips.Got:
		return "it does not hold its speed"
	case (net.Slip-clips.Slip)*net.Asked > max(slips*net.Asked, least*float64(size)):
		return "it glides"
	}
	return ""
}

func (n *networks) print(w io.Writer, size float32) error {
	for _, net := range n.Of {
		why := "it measures up to the clips, and needs less memory"
		if net.Fault != "" {
			why = "the clips are better: " + net.Fault
		}
		fmt.Fprintf(w, "\n%s, trained for %.0f minutes: %s\n", net.Way, net.Minutes, why)
		err := net.Measures.Print(w)
		if net.Poses != nil {
			err = errors.Join(err, net.Poses.Print(w, size))
		}
		if err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "\nplays: %s\n", n.Plays)
	return err
}
