package recipes

import (
	"fmt"
	"math"
	"os"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
	"mannequin/models"
	"mannequin/netruntime"
	"mannequin/netruntime/grad"
	"mannequin/offline/dataset"
)

func TestProbeHeads(t *testing.T) {
	l := feature.Dog()
	l.Phases = true
	_, set, err := dataset.BuildMANN("/tmp/data/dog", dataset.Options{Layout: l})
	if err != nil {
		t.Fatal(err)
	}
	net, err := models.Open(os.Getenv("M"))
	if err != nil {
		t.Fatal(err)
	}
	u := newRollout(set, nil, set.Order, 1, 0, 1, nil)
	for _, share := range []float32{0, 1} {
		h, _ := newHeads(l, share)
		var rows []int
		var side []float64
		for r := 0; r < set.Rows; r++ {
			x := set.Input(r)
			a, b := x[l.InSample(3)+feature.SampleDir:], x[l.InSample(9)+feature.SampleDir:]
			turn := float64(m3.WrapAngle(m3.Atan2(b[0], b[1])-m3.Atan2(a[0], a[1]))) * 180 / math.Pi / 1.1
			sp := x[l.InSample(3)+feature.SampleSpeed]
			if math.Abs(turn) > 45 && sp < 0.8 && onFeet(set, r) && x[l.InActions(6)+1] > 0.5 {
				rows = append(rows, r)
				side = append(side, math.Copysign(1, turn))
			}
		}
		in, out := l.Inputs(), l.Outputs()
		x := make([]float32, len(rows)*in)
		for i, r := range rows {
			u.set.input(x[i*in:], r)
		}
		if share > 0 {
			h.begin(x, in, u, rows, grad.Hash(3, 4))
		}
		for i := range rows {
			for c := range in {
				x[i*in+c] = x[i*in+c]*set.XStd[c] + set.XMean[c]
			}
		}
		y := make([]float32, len(rows)*out)
		s, err := net.NewSession(netruntime.SessionOptions{Batch: len(rows), Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Run(y, x, len(rows)); err != nil {
			t.Fatal(err)
		}
		yaw := func(v []float32, bone func(int) int) float64 {
			at := func(b int) m3.Vec3 { c := bone(b); return m3.V(v[c], v[c+1], v[c+2]) }
			head, body := at(5).Sub(at(4)), at(3).Sub(at(0))
			return float64(m3.WrapAngle(m3.Atan2(head.X, head.Z)-m3.Atan2(body.X, body.Z))) * 180 / math.Pi
		}
		var n [8]int
		var d, rec, pos [8]float64
		for i, r := range rows {
			a := side[i] * yaw(x[i*in:], l.InBone)
			b := side[i] * yaw(y[i*out:], l.OutBone)
			c := side[i] * yaw(set.Output(r), l.OutBone)
			k := int(math.Floor((a + 120) / 30))
			if k < 0 || k > 7 {
				continue
			}
			n[k]++
			d[k] += b - a
			rec[k] += c - a
			pos[k] += c
		}
		for k := range n {
			f := float64(max(n[k], 1))
			fmt.Printf("share %v head %4d..: n %5d, predicted change per tick %6.2f, recorded minus input %6.2f, recorded head %6.1f\n", share, k*30-120, n[k], d[k]/f, rec[k]/f, pos[k]/f)
		}
	}
}
