package mar

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/race"
	"mannequin/offline/retarget"
)

// brute is eq. 1 of Xia et al. 2015 with its closed form (Kovar, Gleicher and Pighin 2002, sec.
// 3.1), in float64, on the places themselves.
func brute(m *metric, a, b [][]m3.Vec3) float64 {
	var ca, cb, sum complex128
	for i := range Window {
		for _, j := range m.joints {
			ca += complex(float64(a[i][j].X), float64(a[i][j].Z))
			cb += complex(float64(b[i][j].X), float64(b[i][j].Z))
			sum++
		}
	}
	ca, cb = ca/sum, cb/sum
	var across complex128
	d := 0.0
	for i := range Window {
		for _, j := range m.joints {
			p := complex(float64(a[i][j].X), float64(a[i][j].Z)) - ca
			q := complex(float64(b[i][j].X), float64(b[i][j].Z)) - cb
			y := float64(a[i][j].Y) - float64(b[i][j].Y)
			across += cmplx.Conj(p) * q
			d += y*y + real(p)*real(p) + imag(p)*imag(p) + real(q)*real(q) + imag(q)*imag(q)
		}
	}
	return math.Sqrt(max(0, (d-2*cmplx.Abs(across))/real(sum)))
}

// recorded returns where the joints are in the frames of some recordings, or skips.
func recorded(t *testing.T, dir, pattern string, most int) (sk *skel.Skeleton, clips [][][]m3.Vec3) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(mocapdata.Dir(t), dir, pattern))
	if err != nil || len(files) == 0 {
		t.Skipf("no recordings %s in %s", pattern, dir)
	}
	if _, err := os.Stat(files[0]); err != nil {
		t.Skip(err)
	}
	sk = retarget.Human()
	for _, f := range files[:min(most, len(files))] {
		c, _, err := retarget.Open(f, retarget.OpenOptions{Target: sk, FPS: 60})
		if err != nil {
			t.Fatal(err)
		}
		clips = append(clips, placesOf(c))
	}
	return sk, clips
}

func placesOf(c *skel.Clip) [][]m3.Vec3 {
	var all [][]m3.Vec3
	model := make([]m3.Xform, c.Skel.Len())
	for f := range c.Frames {
		c.Model(model, f)
		p := make([]m3.Vec3, len(model))
		for j := range p {
			p[j] = model[j].Pos
		}
		all = append(all, p)
	}
	return all
}

// windowsOf returns the windows of clips.
func windowsOf(clips [][][]m3.Vec3) (all [][][]m3.Vec3) {
	for _, c := range clips {
		for f := Window; f <= len(c); f++ {
			all = append(all, c[f-Window:f])
		}
	}
	return all
}

func indexed(t *testing.T, sk *skel.Skeleton, windows [][][]m3.Vec3, classes int) *index {
	t.Helper()
	m, err := newMetric(sk, nil)
	if err != nil {
		t.Fatal(err)
	}
	plane, height := make([]float32, 2*m.n()), make([]float32, m.n())
	cloud := func(w int, plane, height []float32) {
		m.cloud(plane, height, func(i int) []m3.Vec3 { return windows[w][i] })
	}
	if err := m.fit(poseShare, len(windows)/3, func(i int, p, h []float32) { cloud(3*i, p, h) }); err != nil {
		t.Fatal(err)
	}
	rows, of := make([]float32, len(windows)*m.columns()), make([]int32, len(windows))
	for w := range windows {
		cloud(w, plane, height)
		m.coordinates(rows[w*m.columns():][:m.columns()], plane, height)
		of[w] = int32(w * classes / len(windows))
	}
	return newIndex(m, rows, of, classes)
}

func (s *search) ask(x *index, window [][]m3.Vec3) {
	m := x.metric
	plane, height := make([]float32, 2*m.n()), make([]float32, m.n())
	m.cloud(plane, height, func(i int) []m3.Vec3 { return window[i] })
	m.coordinates(s.q, plane, height)
	m.turned(s.turned, s.q)
}

// The search finds what comparing with every window finds: 10,000 queries of recordings of other
// people, walks, runs and martial arts, in a stream, with what is known from the frame before.
// Distances are within a five-hundredth of those of the places, which principal components leave
// out; ranks may differ by that.
func TestSearchAgainstBruteForce(t *testing.T) {
	race.Single(t)
	sk, data := recorded(t, "bandai1", "*walk*_*.bvh", 24)
	_, walks := recorded(t, "cmu-locomotion", "0[2-9]_*.bvh", 40)
	_, acts := recorded(t, "cmu-actions", "daz43_martial_*.bvh", 9)
	windows := windowsOf(data)
	const classes, k = 4, 40
	x := indexed(t, sk, windows, classes)
	s := x.newSearch(k)
	queries, worst, asked := 0, 0.0, 0
	was := make([]float32, x.cols)
	known, found := make([]distanceBounds, classes), map[int32]float32{}
	for _, clip := range append(walks, acts...) {
		for i := range known {
			known[i] = unknown
		}
		for f := Window; f <= len(clip) && queries < 10000; f++ {
			queries++
			s.ask(x, clip[f-Window:f])
			moved := x.metric.distance(s.q, s.turned, was) + slack
			copy(was, s.q)
			c := queries % classes
			for i := range known {
				known[i].move(moved)
			}
			if f == Window {
				for i := range known {
					known[i] = unknown
				}
			}
			x.nearest(s, c, k, inf, &known[c])
			if len(s.best) != k {
				t.Fatalf("query %d: %d neighbours, want %d", queries, len(s.best), k)
			}
			// Every window's distance in the index's coordinates, without its bounds: whoever is
			// nearer than the last neighbour is one.
			last := s.best[k-1].d
			for _, n := range s.best {
				found[n.window] = n.d
			}
			x.each(s, c, func(w int32, d float32) {
				if got, ok := found[w]; d < last-1e-4 && !ok || ok && math.Abs(float64(got-d)) > 1e-4 {
					t.Fatalf("query %d: window %d is at %g m, the last neighbour at %g; found %v at %g", queries, w, d, last, ok, got)
				}
			})
			clear(found)
			if queries%50 == 0 { // and from the places themselves
				var want []float64
				first := int(math.Ceil(float64(c*len(windows)) / classes))
				for w := first; w < len(windows) && w*classes/len(windows) == c; w++ {
					want = append(want, brute(x.metric, clip[f-Window:f], windows[w]))
				}
				slices.Sort(want)
				asked++
				for i, n := range s.best {
					exact := brute(x.metric, clip[f-Window:f], windows[n.window])
					worst = max(worst, math.Abs(float64(n.d)-exact)/exact, exact/want[i]-1)
				}
			}
		}
	}
	t.Logf("%d queries of %d windows in %d columns; of %d the distances are within %.2f %% of those of the places, and so are their ranks", queries, len(windows), x.cols, asked, 100*worst)
	if worst > 0.002 {
		t.Errorf("distances are %.2f %% off those of the places", 100*worst)
	}
	if queries < 10000 {
		t.Errorf("%d queries only", queries)
	}
}

// each calls f for the windows of a class and their distances from the query.
func (x *index) each(s *search, class int, f func(w int32, d float32)) {
	var d [lanes]float32
	c := x.classes[class]
	for i := c.leaf0; i < c.leaf1; i++ {
		x.metric.distances(&d, s.q, s.turned, x.windows[int(i)*x.cols*lanes:][:x.cols*lanes], inf)
		for l, w := range x.leaves[i].window {
			if w >= 0 {
				f(w, d[l])
			}
		}
	}
}

// all returns the windows of a class by their distance from the query.
func (x *index) all(s *search, class int) (all []neighbour) {
	x.each(s, class, func(w int32, d float32) { all = append(all, neighbour{w, d}) })
	slices.SortFunc(all, func(a, b neighbour) int {
		if a.before(b) {
			return -1
		}
		return 1
	})
	return all
}

// The same on made-up walks, wherever recordings are absent: neighbours, limits, and classes with
// fewer windows than are asked for.
func TestSearch(t *testing.T) {
	var clips [][][]m3.Vec3
	for i, s := range []style{plain, proud, old} {
		clips = append(clips, placesOf(s.take("walk", i, 4, 1).Clip))
	}
	windows := windowsOf(clips)
	sk := retarget.Human()
	for _, classes := range []int{1, 7, len(windows) / 5} {
		t.Run(fmt.Sprint(classes), func(t *testing.T) {
			x := indexed(t, sk, windows, classes)
			total := int32(0)
			for _, c := range x.classes {
				total += c.windows
			}
			if int(total) != len(windows) {
				t.Fatalf("%d windows in the index, want %d", total, len(windows))
			}
			const k = 17
			s := x.newSearch(k)
			for f, w := range windowsOf([][][]m3.Vec3{placesOf(plain.take("amble", 5, 2, 1.2).Clip)}) {
				s.ask(x, w)
				c := f % classes
				known := unknown
				x.nearest(s, c, k, inf, &known)
				all := x.all(s, c)
				if want := min(k, len(all)); len(s.best) != want {
					t.Fatalf("%d neighbours, want %d", len(s.best), want)
				}
				for i, n := range s.best {
					if n != all[i] {
						t.Fatalf("query %d: neighbour %d is %v, want %v", f, i, n, all[i])
					}
				}
				mean := 0.0 // the root of the mean square
				for _, n := range all[:min(k, len(all))] {
					mean += float64(n.d) * float64(n.d)
				}
				mean = math.Sqrt(mean / float64(min(k, len(all))))
				if float64(known.low) > mean || len(all) >= k && known.high < all[k-1].d {
					t.Fatalf("query %d: known %v of distances from %g to %g, %g in the mean", f, known, all[0].d, all[min(k, len(all))-1].d, mean)
				}
				for _, share := range []float64{0.3, 0.8, 0.99, 1.01} {
					known := unknown
					x.nearest(s, c, k, float32(share*mean), &known)
					if float64(known.low) > mean || len(s.best) == 0 && share > 1 || len(s.best) > 0 && !slices.Equal(s.best, all[:min(k, len(all))]) {
						t.Fatalf("query %d, below %g of the mean: known %v, %d found", f, share, known, len(s.best))
					}
				}
			}
		})
	}
}

// Distances are a metric on motions apart from turns and moves: 0 for a window moved and turned,
// symmetric, and no way round is shorter.
func TestMetric(t *testing.T) {
	sk := retarget.Human()
	windows := windowsOf([][][]m3.Vec3{placesOf(plain.take("walk", 1, 2, 1).Clip), placesOf(old.take("amble", 2, 2, 1).Clip)})
	x := indexed(t, sk, windows, 1)
	r := rand.New(rand.NewPCG(5, 6))
	a, b, s := x.newSearch(1), x.newSearch(1), x.newSearch(1)
	pick := func() [][]m3.Vec3 { return windows[r.IntN(len(windows))] }
	for range 300 {
		wa, wb, wc := pick(), pick(), pick()
		turn, to := m3.YawQuat(6*r.Float32()), m3.V(20*r.Float32(), 0, -30*r.Float32())
		moved := make([][]m3.Vec3, Window)
		for i := range moved {
			for _, p := range wa[i] {
				moved[i] = append(moved[i], turn.Rotate(p).Add(to))
			}
		}
		a.ask(x, wa)
		b.ask(x, moved)
		if d := x.metric.distance(a.q, a.turned, b.q); d > 1e-3 {
			t.Fatalf("a window is %g m from itself, turned and moved", d)
		}
		b.ask(x, wb)
		s.ask(x, wc)
		ab, ba := x.metric.distance(a.q, a.turned, b.q), x.metric.distance(b.q, b.turned, a.q)
		bc, ac := x.metric.distance(b.q, b.turned, s.q), x.metric.distance(a.q, a.turned, s.q)
		if m3.Abs(ab-ba) > 1e-4 || ac > ab+bc+slack {
			t.Fatalf("distances %g and back %g; %g where there is a way of %g + %g", ab, ba, ac, ab, bc)
		}
		if want := brute(x.metric, wa, wb); math.Abs(float64(ab)-want) > 0.003*want+1e-4 {
			t.Fatalf("%g m, eq. 1 says %g", ab, want)
		}
	}
}
