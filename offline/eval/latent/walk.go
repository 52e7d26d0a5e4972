package latent

import (
	"fmt"

	"mannequin/netruntime"
	"mannequin/offline/eval"
	"mannequin/offline/metrics"
)

// walks has strollers walk as they are asked.
func (r *Report) walks(next *netruntime.Net, threads int) error {
	for _, ask := range [][2]float64{{0, 0.9}, {0, 1.2}, {0, 1.5}, {0.4, 1.2}, {-0.4, 1.2}, {0.8, 1}, {-0.8, 1}} { // rad/s, m/s
		r.Walking = append(r.Walking, metrics.LatentCrowd{Turn: ask[0], Speed: ask[1]})
	}
	return metrics.MeasureLatentCrowd(r.model, next, r.Walking, threads)
}

func (r *Report) printWalks(t *eval.Tables) {
	rows := []string{"turn rad/s\tspeed m/s\tturns\tgoes\tapart cm\tmost\tslide cm/frame\tstands"}
	for _, w := range r.Walking {
		rows = append(rows, eval.Cells(fmt.Sprintf("%.1f", w.Turn), fmt.Sprintf("%.1f", w.Speed), fmt.Sprintf("%.2f", w.Turned), fmt.Sprintf("%.2f", w.Went),
			fmt.Sprintf("%.2f", w.Apart), fmt.Sprintf("%.2f", w.Most), fmt.Sprintf("%.3f", w.Slide), fmt.Sprintf("%.0f %%", 100*w.Stand)))
	}
	t.Section(fmt.Sprintf("%d people each, asked for a turn and a speed", metrics.LatentCrowdSize), rows...)
}
