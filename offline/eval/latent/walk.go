package latent

import (
	"fmt"

	"mannequin/netruntime"
	"mannequin/offline/eval"
	"mannequin/offline/metrics"
)

// walks measures people who walk by requested speeds and turns.
func (r *Report) walks(next *netruntime.Net, threads int) error {
	for _, ask := range [][2]float64{{0, 0.9}, {0, 1.2}, {0, 1.5}, {0.4, 1.2}, {-0.4, 1.2}, {0.8, 1}, {-0.8, 1}} { // rad/s, m/s
		r.Walking = append(r.Walking, metrics.LatentCrowd{Turn: ask[0], Speed: ask[1]})
	}
	return metrics.MeasureLatentCrowd(r.model, next, r.Walking, threads)
}

func (r *Report) printWalks(t *eval.Tables) {
	t.Section(fmt.Sprintf("%d people each, by requested turn and speed", metrics.LatentCrowdSize), "turn rad/s\tspeed m/s\tturns\tgoes\tapart cm\tmost\tslide cm/frame\tstands")
	for _, w := range r.Walking {
		t.Row("%.1f\t%.1f\t%.2f\t%.2f\t%.2f\t%.2f\t%.3f\t%.0f %%",
			w.Turn, w.Speed, w.Turned, w.Went, w.Apart, w.Most, w.Slide, 100*w.Stand)
	}
}
