package body

import "mannequin/engine/m3"

// headSize scales the head: characters in games have larger heads than people.
const headSize = 1.05

// Channels of the face's separate pieces; see Clothes.
var (
	eyeball  = [4]float32{2: 2}
	iris     = [4]float32{3: 2}
	bristles = [4]float32{3: 1}
	lash     = [4]float32{0: 3}
	lid      = [4]float32{0: 1.12}
	lips     = [4]float32{0: 2}
	gap      = [4]float32{0: 2.9} // between the lips
)

// headSpace is the space in which heads are planned. The head's joint is the base of the skull,
// behind the jaw.
type headSpace struct {
	joint  int
	origin m3.Vec3
	u      float32
}

func (h *human) headSpace() headSpace {
	return headSpace{joint: h.rig.index("Head"), origin: h.at("Head"), u: headSize * h.u}
}

func (s *headSpace) at(x, y, z float32) m3.Vec3 {
	return s.origin.Add(m3.V(x, y, z).Scale(s.u))
}

// add appends to dst a blob of the head, from a to b.
func (s *headSpace) add(dst *shape, a, b m3.Vec3, ra, rb, blend float32) *blob {
	*dst = append(*dst, blob{joint: s.joint, a: a, b: b, ra: ra * s.u, rb: rb * s.u, squash: 1, blend: blend * s.u})
	return &(*dst)[len(*dst)-1]
}

// head plans the skin of skull, face, ears and neck.
func (h *human) head() piece {
	s := h.headSpace()
	at, wide := s.at, m3.V(1, 0, 0)
	var skin shape
	add := func(a, b m3.Vec3, ra, rb, blend float32) *blob { return s.add(&skin, a, b, ra, rb, blend) }
	h.throat(&skin)

	// Skull, face down to the jaw, chin, nape.
	add(at(0, 0.108, -0.014), at(0, 0.110, 0.026), 0.0850, 0.0780, 0.02).flatten(wide, 0.89)
	add(at(0, 0.066, 0.042), at(0, 0.016, 0.056), 0.0555, 0.0355, 0.02).flatten(wide, 0.94)
	add(at(-0.009, -0.012, 0.0790), at(0.009, -0.012, 0.0790), 0.0150, 0.0150, 0.02)
	add(at(0, 0.03, -0.016), at(0, 0.0, -0.012), 0.0530, 0.0470, 0.02)
	// Brow.
	add(at(-0.026, 0.103, 0.0850), at(0.026, 0.103, 0.0850), 0.0125, 0.0125, 0.012)
	for _, k := range []float32{1, -1} {
		add(at(0.036*k, 0.062, 0.066), at(0.049*k, 0.067, 0.045), 0.0180, 0.0180, 0.02) // cheek
		add(at(0.038*k, 0.058, 0.044), at(0.033*k, 0.016, 0.044), 0.0260, 0.0185, 0.02)
		add(at(0.040*k, 0.020, 0.016), at(0.016*k, -0.009, 0.068), 0.0150, 0.0140, 0.025) // jaw
	}
	for _, k := range []float32{1, -1} { // sockets
		add(at(0.0230*k, 0.0830, 0.1000), at(0.0430*k, 0.0815, 0.0960), 0.0125, 0.0130, 0.010).carve = true
	}
	// Nose, its wings and nostrils, the swell of the lips.
	add(at(0, 0.094, 0.0925), at(0, 0.061, 0.1105), 0.0075, 0.0092, 0.012)
	add(at(-0.0095, 0.0565, 0.1010), at(0.0095, 0.0565, 0.1010), 0.0070, 0.0070, 0.006)
	add(at(0, 0.0585, 0.1080), at(0, 0.0585, 0.1085), 0.0085, 0.0085, 0.006)
	add(at(-0.013, 0.027, 0.0880), at(0.013, 0.027, 0.0880), 0.0105, 0.0105, 0.014)
	for _, k := range []float32{1, -1} {
		ear := m3.V(0.85*k, 0, 0.5).Normalize(wide)
		add(at(0.0745*k, 0.088, -0.005), at(0.0730*k, 0.077, -0.004), 0.0160, 0.0145, 0.006).flatten(ear, 0.34)
		add(at(0.0730*k, 0.077, -0.004), at(0.0710*k, 0.060, 0.003), 0.0135, 0.0080, 0.004).flatten(ear, 0.40)
		add(at(0.0815*k, 0.0855, 0.004), at(0.0790*k, 0.074, 0.006), 0.0060, 0.0050, 0.005).carve = true
	}
	h.face(s, skin)
	return piece{shape: skin, cell: 0.0056 * s.u, triangles: headLevels, halved: true, middle: s.origin.X,
		coat: s.complexion, detail: s.detail}
}

// throat adds the neck, from inside the collar into the skull, in the plane of the head's middle.
func (h *human) throat(skin *shape) {
	base := h.collar().Add(m3.V(0, -0.035, 0).Scale(h.u))
	from := int(h.rig.Parents[h.neck[0]])
	var joints []int
	if h.bind[h.neck[0]].Pos.Y > base.Y {
		joints = append(joints, from)
	}
	joints = append(joints, h.neck...)
	x := h.at("Head").X
	for i, j := range joints[:len(joints)-1] {
		a, b := h.bind[j].Pos, h.bind[joints[i+1]].Pos
		if b.Y <= base.Y {
			continue
		}
		if a.Y < base.Y {
			a = base
		}
		a.X, b.X = x, x
		*skin = append(*skin, blob{joint: j, a: a, b: b, ra: 0.0490 * h.u, rb: 0.0470 * h.u, squash: 1, blend: 0.03 * h.u})
	}
}

// complexion is the coat of a head's vertex: cheeks, nose and ears are redder, the sockets too.
func (s *headSpace) complexion(p, n m3.Vec3, _ int) [4]float32 {
	q := p.Sub(s.origin).Scale(1 / s.u)
	q.X = m3.Abs(q.X)
	near := func(x, y, z, r float32) float32 { return m3.Clamp(1-q.Dist(m3.V(x, y, z))/r, 0, 1) }
	red := max(0.40*near(0.042, 0.052, 0.078, 0.034), 0.45*near(0, 0.058, 0.118, 0.026), 0.55*near(0.085, 0.078, 0, 0.03), 0.30*near(0.033, 0.080, 0.088, 0.024))
	return [4]float32{1 + red}
}

// detail favours small triangles in the face, mostly around eyes, nose and mouth.
func (s *headSpace) detail(p m3.Vec3) float32 {
	q := p.Sub(s.origin).Scale(1 / s.u)
	q.X = m3.Abs(q.X)
	within := func(x, y, z, r float32) float32 {
		return m3.Clamp((r-q.Dist(m3.V(x, y, z)))/(0.5*r), 0, 1)
	}
	return 1 + 4*within(0, 0.06, 0.09, 0.09) + 10*within(0.032, 0.082, 0.09, 0.03) + 8*within(0, 0.055, 0.11, 0.035) + 4*within(0.078, 0.078, 0, 0.04)
}

// face adds eyes, lids, eyebrows and lips, which lie on the skin.
func (h *human) face(s headSpace, skin shape) {
	at := s.at
	piece := func(at m3.Vec3, x, y, z float32, coat [4]float32) {
		h.parts = append(h.parts, part{joint: s.joint, centre: at, radii: m3.V(x, y, z).Scale(s.u), coat: coat})
	}
	// strip adds a tube along places on the skin, sunk into it by a share of its radius.
	strip := func(coat [4]float32, sunk float32, path []m3.Vec3, radii ...float32) {
		q := tube{joint: s.joint, coat: coat, levels: 2}
		for i, p := range path {
			p, n := skin.project(p, 0.005*s.u)
			q.path = append(q.path, p.Sub(n.Scale(sunk*radii[i]*s.u)))
			q.radii = append(q.radii, radii[i]*s.u)
		}
		h.tubes = append(h.tubes, q)
	}
	for _, k := range []float32{1, -1} {
		piece(at(0.0315*k, 0.0820, 0.0790), 0.0134, 0.0128, 0.0128, eyeball)
		piece(at(0.0308*k, 0.0820, 0.0868), 0.0061, 0.0064, 0.0053, iris)
		piece(at(0.0317*k, 0.0881, 0.0790), 0.0146, 0.0108, 0.0131, lash)
		piece(at(0.0317*k, 0.0902, 0.0782), 0.0156, 0.0118, 0.0138, lid)
		piece(at(0.0315*k, 0.0710, 0.0760), 0.0150, 0.0103, 0.0128, lid)
		strip(bristles, 0.45, []m3.Vec3{at(0.0135*k, 0.0985, 0.100), at(0.024*k, 0.1020, 0.100), at(0.037*k, 0.1035, 0.094), at(0.0485*k, 0.0985, 0.084)},
			0.0026, 0.0030, 0.0026, 0.0012)
	}
	// line adds a strip that mirrors the points from its middle on.
	line := func(coat [4]float32, sunk float32, half []m3.Vec3, radii []float32) {
		path, r := []m3.Vec3{}, []float32{}
		for i := len(half) - 1; i > 0; i-- {
			path, r = append(path, at(-half[i].X, half[i].Y, half[i].Z)), append(r, radii[i])
		}
		for i, p := range half {
			path, r = append(path, at(p.X, p.Y, p.Z)), append(r, radii[i])
		}
		strip(coat, sunk, path, r...)
	}
	line(lips, 0.25, []m3.Vec3{m3.V(0, 0.0290, 0.101), m3.V(0.0065, 0.0302, 0.101), m3.V(0.0145, 0.0282, 0.096), m3.V(0.0215, 0.0258, 0.088)},
		[]float32{0.0028, 0.0031, 0.0025, 0.0014})
	line(lips, 0.25, []m3.Vec3{m3.V(0, 0.0212, 0.099), m3.V(0.0075, 0.0215, 0.099), m3.V(0.0140, 0.0230, 0.095), m3.V(0.0200, 0.0250, 0.088)},
		[]float32{0.0038, 0.0036, 0.0028, 0.0012})
	line(gap, 0.05, []m3.Vec3{m3.V(0, 0.0254, 0.100), m3.V(0.0075, 0.0259, 0.100), m3.V(0.0150, 0.0256, 0.096), m3.V(0.0235, 0.0252, 0.088)},
		[]float32{0.0021, 0.0020, 0.0017, 0.0010})
}

// hair plans the hair: a shell over the skull without the face and around the ears.
func (h *human) hair() piece {
	s := h.headSpace()
	at, wide := s.at, m3.V(1, 0, 0)
	var cap shape
	add := func(a, b m3.Vec3, ra, rb, blend float32) *blob { return s.add(&cap, a, b, ra, rb, blend) }
	add(at(0, 0.114, -0.024), at(0, 0.121, 0.022), 0.0900, 0.0850, 0.01).flatten(wide, 0.91)
	add(at(0, 0.080, -0.036), at(0, 0.028, -0.026), 0.0680, 0.0500, 0.02)
	for _, k := range []float32{1, -1} {
		add(at(0.0600*k, 0.110, 0.026), at(0.0645*k, 0.066, 0.020), 0.0150, 0.0095, 0.015) // sideburn
	}
	add(at(0, 0.165, 0.060), at(0, 0.172, 0.020), 0.0330, 0.0400, 0.02).flatten(wide, 1.35)
	add(at(-0.2, 0.0760, 0.1270), at(0.2, 0.0760, 0.1270), 0.0860, 0.0860, 0.004).carve = true
	for _, k := range []float32{1, -1} {
		add(at(0.0900*k, 0.0760, -0.004), at(0.0660*k, 0.0700, -0.004), 0.0240, 0.0240, 0.006).carve = true
	}
	return piece{shape: cap, cell: 0.0070 * s.u, triangles: hairLevels, halved: true, middle: s.origin.X,
		coat: func(_, _ m3.Vec3, _ int) [4]float32 { return [4]float32{0: 1, 3: 1} }}
}
