// Package strnn measures predictions of people's motion (Wang, Ho, Shum and Zhu 2019).
package strnn

import (
	"fmt"

	"mannequin/animsys/manifold"
	"mannequin/animsys/strnn"
	"mannequin/models"
	"mannequin/offline/dataset"
	"mannequin/offline/eval"
	"mannequin/offline/metrics"
)

// Noise is the error of motion after denoising.
type Noise struct {
	metrics.Noise
	Of []metrics.Restored `json:"of"`
}

// Gap is the error of joints in a filled gap.
type Gap struct {
	Joints  string             `json:"joints"`
	Seconds float64            `json:"seconds"`
	Of      []metrics.Restored `json:"of"`
}

// Lengths of the stretches with noise or a gap.
const (
	cleanFrames = 2 * dataset.Rate
	gapFrames   = dataset.Rate / 2
)

// cleans measures denoising and filled gaps, beside the autoencoder.
func (r *Report) cleans() error {
	if r.opt.Motions == 0 {
		return nil
	}
	m, err := models.OpenAs(r.opt.Manifold, manifold.NewModel)
	if err != nil {
		return err
	}
	d, err := r.model.NewDenoiser(strnn.DenoiserOptions{FPS: dataset.Rate, Batch: 32, Workers: r.opt.Threads})
	if err != nil {
		return err
	}
	defer d.Close()
	l, threads := r.model.Layout, r.opt.Threads
	ways := []metrics.Restorer{metrics.Untouched(l), metrics.Autoencoder(m, false, threads), metrics.Autoencoder(m, true, threads),
		metrics.STRNN(d, l, nil, threads), metrics.STRNN(d, l, m, threads)}
	s := metrics.Sample{N: r.opt.Motions, Frames: cleanFrames, Seed: r.opt.Seed}
	for _, noise := range metrics.PaperNoise {
		of, err := metrics.MeasureDenoise(r.held, s, noise, ways...)
		if err != nil {
			return err
		}
		r.Noise = append(r.Noise, Noise{noise, of})
	}
	s.N = max(1, s.N/4)
	for _, g := range []struct {
		name   string
		joints []string
	}{{"all", nil}, {"an arm", []string{"LeftForeArm", "LeftHand", "LeftHandIndex1"}}} {
		of, err := metrics.MeasureFill(r.held, s, gapFrames, g.joints, ways...)
		if err != nil {
			return err
		}
		r.Gaps = append(r.Gaps, Gap{g.name, float64(gapFrames) / dataset.Rate, of})
	}
	return nil
}

// cleanBars compares the network's denoising of the paper's noise with the autoencoder's, both as edit
// uses them.
func (r *Report) cleanBars(b *eval.Bars) {
	for _, n := range r.Noise {
		if n.Joints != paperNoise {
			continue
		}
		of := map[string]float64{}
		for _, v := range n.Of {
			of[v.Name] = v.Mean
		}
		b.Most("error after noise of 0.3 was taken off, over the autoencoder's", fmt.Sprintf("contacts %g", n.Contacts), eval.Over(of["STRNN, edited"], of["autoencoder, edited"]), 0.8)
	}
}

// paperNoise is the deviation of the paper's noise on joints.
const paperNoise = 0.3

func (r *Report) printCleans(t *eval.Tables) {
	t.Section(fmt.Sprintf("Noise, in deviations, removed from %d motions of %g s", r.opt.Motions, float64(cleanFrames)/dataset.Rate), "noise on joints, contacts\t\tmean cm\tRMS\twrong contacts\tjerk cm/frame³")
	for _, n := range r.Noise {
		name := fmt.Sprintf("%g, %g", n.Joints, n.Contacts)
		for _, v := range n.Of {
			t.Row("%s\t%s\t%.2f\t%.2f\t%.2f\t%.2f", name, v.Name, v.Mean, v.RMS, v.Contacts, v.Jerk)
			name = "" // in the first row only
		}
	}
	t.Section("Filled gaps", "lost\t\tmean cm\tRMS")
	for _, g := range r.Gaps {
		name := fmt.Sprintf("%s for %g s", g.Joints, g.Seconds)
		for _, v := range g.Of {
			t.Row("%s\t%s\t%.2f\t%.2f", name, v.Name, v.Mean, v.RMS)
			name = ""
		}
	}
}
