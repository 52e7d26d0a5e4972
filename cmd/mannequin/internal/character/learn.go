package character

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"mannequin/animsys/matching"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/offline/eval/controller"
	"mannequin/offline/recipes"
	"mannequin/offline/train"
)

// networks is what was learned.
type networks struct {
	Minutes  float64            `json:"minutes"` // of training
	Measures *controller.Report `json:"measures"`
	Poses    controller.Learned `json:"poses"`
	Play     bool               `json:"play"` // rather than the clips
	Why      string             `json:"why"`
	Bytes    int64              `json:"bytes,omitempty"` // of --networks
}

// learn trains networks on the database of a file, measures them, and chooses what plays.
func (o *options) learn(ctx context.Context, progress *cli.Progress, f *matching.File, s controller.Subject, r *report) error {
	m := recipes.DefaultLearned(f.Database, o.train)
	m.Threads, m.Resume, m.Now, m.Log = o.threads, o.resume, time.Now, slog.New(slog.DiscardHandler)
	m.Folder = o.out + ".train"
	if err := os.MkdirAll(m.Folder, 0o755); err != nil {
		return err
	}
	m.Progress = func(part string, p train.Progress) {
		progress.Stage("training the " + part)
		progress.Step(int(1000*p.Done), 1000)
	}
	l, trained, err := m.Run(ctx)
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted: the same command with --resume goes on from %s", m.Folder)
	}
	if err != nil {
		return fmt.Errorf("%w; what was trained is in %s", err, m.Folder)
	}
	progress.Stage("measuring the networks")
	n := &networks{}
	for _, t := range [...]*train.Report{trained.Autoencoder, trained.Stepper, trained.Projector} {
		n.Minutes += t.Seconds / 60
	}
	if n.Poses, err = controller.MeasureLearned(f.Database, l, trained.Latent); err != nil {
		return err
	}
	s.New, s.Memory = controller.Plays(&matching.File{Learned: l}), l.Bytes()
	if n.Measures, err = controller.Measure(s); err != nil {
		return err
	}
	n.Play, n.Why = choose(r.Measures, n.Measures)
	f.Learned, f.Learns, r.Networks = l, n.Play, n
	return os.RemoveAll(m.Folder)
}

// choose says whether networks play rather than clips, and why.
func choose(clips, nets *controller.Report) (bool, string) {
	const most = 1.25 // times the clips' measure
	answer := func(r *controller.Report) float64 { return r.Start + r.Stop + r.Turn90 + r.Turn180 }
	held := func(r *controller.Report) (worst float64) {
		for _, v := range r.Speeds {
			worst = max(worst, v.Asked/max(v.Got, 1e-3), v.Got/v.Asked)
		}
		return worst
	}
	switch {
	case !nets.Finite:
		return false, "the networks' motion is not finite"
	case answer(nets) > most*answer(clips):
		return false, "the networks answer later"
	case held(nets) > max(1.1, held(clips)):
		return false, "the networks do not hold their speed"
	case nets.Path.Distance > clips.Path.Distance+0.1:
		return false, "the networks leave a path"
	case nets.Jerk.Shown > most*clips.Jerk.Shown:
		return false, "the networks jerk"
	case nets.Slide.Shown > max(nets.Slide.Clips, most*clips.Slide.Shown):
		return false, "the networks' feet slide"
	}
	return true, "they measure up to the clips, and need less memory"
}

func (n *networks) print(w io.Writer, size float32) error {
	plays := "the clips play"
	if n.Play {
		plays = "they play"
	}
	fmt.Fprintf(w, "\nnetworks, trained for %.0f minutes: %s, because %s\n", n.Minutes, plays, n.Why)
	if err := n.Measures.Print(w); err != nil {
		return err
	}
	return n.Poses.Print(w, size)
}
