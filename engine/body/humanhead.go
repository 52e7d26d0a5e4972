package body

import "mannequin/engine/m3"

// headSize scales the head: characters in games have larger heads than people.
const headSize = 1.05

// head plans skull, face and ears. The head's joint is the base of the skull, behind the jaw.
func (h *human) head() {
	u := headSize * h.u
	joint := h.rig.index("Head")
	at := func(x, y, z float32) m3.Vec3 { return h.bind[joint].Pos.Add(m3.V(x, y, z).Scale(u)) }
	wide := m3.V(1, 0, 0)
	blob := func(a, b m3.Vec3, ra, rb, blend float32) *blob {
		return h.add(joint, a, b, headSize*ra, headSize*rb, headSize*blend)
	}

	// Skull, face down to the jaw, chin, nape.
	blob(at(0, 0.108, -0.014), at(0, 0.110, 0.026), 0.0850, 0.0780, 0.02).flatten(wide, 0.89)
	blob(at(0, 0.066, 0.042), at(0, 0.014, 0.058), 0.0565, 0.0365, 0.02).flatten(wide, 0.94)
	blob(at(-0.011, -0.012, 0.0800), at(0.011, -0.012, 0.0800), 0.0150, 0.0150, 0.02)
	blob(at(0, 0.03, -0.016), at(0, 0.0, -0.016), 0.0540, 0.0490, 0.02)
	// Brow, nose and its wings, the swell of the lips.
	blob(at(-0.024, 0.102, 0.0860), at(0.024, 0.102, 0.0860), 0.0135, 0.0135, 0.012)
	blob(at(0, 0.092, 0.0960), at(0, 0.060, 0.1140), 0.0080, 0.0100, 0.010)
	blob(at(-0.009, 0.056, 0.1030), at(0.009, 0.056, 0.1030), 0.0075, 0.0075, 0.006)
	blob(at(-0.012, 0.026, 0.0910), at(0.012, 0.026, 0.0910), 0.0100, 0.0100, 0.012)
	for _, s := range []float32{1, -1} {
		blob(at(0.037*s, 0.064, 0.064), at(0.048*s, 0.066, 0.044), 0.0190, 0.0190, 0.02) // cheek
		blob(at(0.038*s, 0.058, 0.044), at(0.033*s, 0.016, 0.044), 0.0265, 0.0190, 0.02)
		blob(at(0.038*s, 0.020, 0.018), at(0.016*s, -0.009, 0.070), 0.0160, 0.0145, 0.025) // jaw
		ear := m3.V(0.85*s, 0, 0.5).Normalize(wide)
		blob(at(0.0750*s, 0.092, -0.007), at(0.0735*s, 0.078, -0.004), 0.0185, 0.0165, 0.006).flatten(ear, 0.40)
		blob(at(0.0735*s, 0.078, -0.004), at(0.0710*s, 0.058, 0.004), 0.0150, 0.0085, 0.004).flatten(ear, 0.45)
	}
	// Hair.
	blob(at(0, 0.115, -0.026), at(0, 0.122, 0.018), 0.0870, 0.0830, 0.008).flatten(wide, 0.89)

	piece := func(at m3.Vec3, x, y, z float32, coat [4]float32) {
		h.parts = append(h.parts, part{joint: joint, centre: at, radii: m3.V(x, y, z).Scale(u), coat: coat})
	}
	for _, s := range []float32{1, -1} {
		piece(at(0.0295*s, 0.0820, 0.0890), 0.0138, 0.0084, 0.0112, eyeball)
		piece(at(0.0290*s, 0.0822, 0.0968), 0.0070, 0.0076, 0.0047, iris)
		piece(at(0.0300*s, 0.1000, 0.0985), 0.0155, 0.0030, 0.0052, bristles)
	}
	piece(at(0, 0.0262, 0.0975), 0.0195, 0.0066, 0.0062, mouth)
}
