package body

import "mannequin/engine/m3"

// level returns a place in the trunk: f from the hip joints (0) to the shoulders (1), x aside and z
// ahead of the line between their middles. It also returns the joint that carries it.
func (h *human) level(f, x, z float32) (m3.Vec3, int) {
	hip := h.at("LeftUpLeg").Lerp(h.at("RightUpLeg"), 0.5)
	p := hip.Lerp(h.at("LeftArm").Lerp(h.at("RightArm"), 0.5), f).Add(m3.V(x, 0, z).Scale(h.u))
	joint := h.trunk[0]
	for _, j := range h.trunk[1:] {
		if h.bind[j].Pos.Y <= p.Y {
			joint = j
		}
	}
	return p, joint
}

// torso stacks horizontal capsules from side to side, and adds seat, breast, shoulder blades,
// shoulders and the shirt's lower part.
func (h *human) torso() {
	for _, s := range []struct{ f, x, z, r, deep float32 }{
		{-0.07, 0.066, -0.008, 0.092, 1.00},
		{0.12, 0.058, -0.006, 0.093, 0.98},
		{0.27, 0.048, 0.000, 0.087, 1.00},
		{0.42, 0.046, 0.006, 0.079, 1.06},
		{0.57, 0.050, 0.010, 0.082, 1.12},
		{0.72, 0.058, 0.012, 0.087, 1.12},
		{0.86, 0.070, 0.010, 0.078, 1.22},
		{0.96, 0.070, 0.004, 0.056, 1.35},
	} {
		a, joint := h.level(s.f, s.x, s.z)
		b, _ := h.level(s.f, -s.x, s.z)
		h.add(joint, a, b, s.r, s.r, 0.035).flatten(ahead, s.deep)
	}
	// The shirt hangs from the ribs over the hips and ends in a hem.
	wide := m3.V(1, 0, 0)
	ribs, joint := h.level(0.68, 0, 0.006)
	waist, _ := h.level(0.30, 0, 0.003)
	seat, hips := h.level(-0.08, 0, 0)
	h.add(joint, ribs, waist, 0.083, 0.0975, 0.02).flatten(wide, 1.62)
	h.add(hips, waist, seat, 0.083, 0.0975, 0.02).flatten(wide, 1.62).ending(h.hem(), m3.Up.Neg())
	for _, s := range []float32{1, -1} {
		cheek, j := h.level(-0.03, 0.060*s, -0.052)
		h.add(j, cheek, cheek.Add(m3.V(0.008*s, -0.02, 0).Scale(h.u)), 0.066, 0.062, 0.04)
		breast, j := h.level(0.76, 0.062*s, 0.062)
		h.add(j, breast, breast.Add(m3.V(0.03*s, 0.02, -0.012).Scale(h.u)), 0.043, 0.039, 0.05)
		blade, j := h.level(0.82, 0.070*s, -0.056)
		h.add(j, blade, blade.Add(m3.V(0.015*s, -0.05, 0.01).Scale(h.u)), 0.046, 0.040, 0.05)
	}
	// The collar stands around the neck, lower in front.
	base, j := h.level(0.96, 0, -0.002)
	h.add(j, base, h.collar().Add(m3.V(0, 0.02, 0.004).Scale(h.u)), 0.060, 0.0575, 0.03).ending(h.collar(), m3.V(0, 0.9, 0.42).Normalize(m3.Up))
}

func (h *human) arm(name string) {
	_, s, _ := side(name)
	shoulder, elbow, hand := h.at(name+"Arm"), h.at(name+"ForeArm"), h.at(name+"Hand")
	v := func(x, y, z float32) m3.Vec3 { return m3.V(s*x, y, z).Scale(h.u) }
	d, e := elbow.Sub(shoulder).Normalize(m3.Up), hand.Sub(elbow).Normalize(m3.Up)

	collar := int(h.rig.Parents[h.rig.index(name+"Arm")])
	in, _ := h.level(0.93, 0.075*s, 0.002)
	h.add(collar, in, shoulder.Add(v(-0.020, -0.022, 0.004)), 0.062, 0.042, 0.035)
	neck, _ := h.level(1.12, 0.034*s, -0.016)
	h.add(collar, neck, shoulder.Add(v(-0.03, -0.006, -0.006)), 0.030, 0.032, 0.045) // trapezius
	h.on(name+"Arm", shoulder.Add(v(-0.008, -0.022, 0.002)), shoulder.Lerp(elbow, 0.35).Add(v(0, 0, 0.002)), 0.045, 0.045, 0.03)
	// Sleeve.
	end := shoulder.Lerp(elbow, sleeveEnd)
	h.on(name+"Arm", shoulder.Lerp(elbow, 0.22).Add(v(-0.003, -0.006, 0)), shoulder.Lerp(elbow, 0.75), 0.045, 0.050, 0.015).ending(end, d)
	h.on(name+"Arm", shoulder.Lerp(elbow, 0.25), elbow, 0.0445, 0.0375, 0.006)
	h.on(name+"Arm", shoulder.Lerp(elbow, 0.45).Add(v(0, 0, 0.008)), shoulder.Lerp(elbow, 0.70).Add(v(0, 0, 0.007)), 0.039, 0.036, 0.02)
	// The bone of the forearm may end short of the wrist.
	wrist := hand.Add(e.Scale(m3.Clamp(0.78*shoulder.Dist(elbow)-elbow.Dist(hand), 0, 0.04*h.u)))
	back := h.dir(name+"Hand", m3.Up)
	h.on(name+"ForeArm", elbow, elbow.Lerp(wrist, 0.35), 0.0375, 0.0385, 0.015)
	h.on(name+"ForeArm", elbow.Lerp(wrist, 0.30), hand, 0.039, 0.0275, 0.015).flatten(back, 0.92)
	h.on(name+"Hand", hand, wrist, 0.0275, 0.0255, 0.015).flatten(back, 0.86)
	h.hand(name, wrist, e)
}

// hand plans a relaxed hand with its fingers along e: palm down if the arm points aside.
func (h *human) hand(name string, wrist, e m3.Vec3) {
	joint := name + "Hand"
	thumb := h.dir(joint, ahead)
	thumb = thumb.Sub(e.Scale(thumb.Dot(e))).Normalize(ahead)
	palm := thumb.Cross(e).Normalize(m3.Up)
	if palm.Dot(h.dir(joint, m3.Up)) > 0 {
		palm = palm.Neg()
	}
	at := func(along, aside, in float32) m3.Vec3 {
		return wrist.Add(e.Scale(along * h.u)).Add(thumb.Scale(aside * h.u)).Add(palm.Scale(in * h.u))
	}
	h.on(joint, at(0.012, 0.005, 0), at(0.062, 0.016, 0.001), 0.0230, 0.0225, 0.02).flatten(palm, 0.56)
	h.on(joint, at(0.012, -0.005, 0), at(0.058, -0.018, 0.001), 0.0220, 0.0205, 0.02).flatten(palm, 0.56)
	h.on(joint, at(0.020, 0.016, 0.006), at(0.042, 0.032, 0.012), 0.0165, 0.0130, 0.014) // ball of the thumb
	// finger adds a tube of four points; each of its three bones is bent farther toward the palm.
	finger := func(along, x, splay, in, length, bend, radius float32) {
		q := tube{joint: h.rig.index(joint), levels: levels, coat: [4]float32{0: 1.12}}
		p, a := m3.V(along-0.016, x, in), float32(0.1)
		q.path, q.radii = append(q.path, at(p.X, p.Y, p.Z)), append(q.radii, radius*h.u)
		for i, share := range []float32{0.42, 0.33, 0.25} {
			l := share * length
			if i == 0 {
				l += 0.016
			}
			p = p.Add(m3.V(l*m3.Cos(a), l*splay, l*m3.Sin(a)))
			a += bend
			q.path = append(q.path, at(p.X, p.Y, p.Z))
			q.radii = append(q.radii, radius*h.u*(1-0.09*float32(i+1)))
		}
		h.tubes = append(h.tubes, q)
	}
	for i, l := range []float32{0.066, 0.074, 0.069, 0.054} {
		k := float32(i)
		finger(0.080-0.004*m3.Abs(k-1), 0.0282-0.0192*k, 0.10-0.07*k, 0.001, l, 0.30+0.07*k, 0.0088-0.0004*m3.Abs(k-1))
	}
	q := tube{joint: h.rig.index(joint), levels: levels, coat: [4]float32{0: 1.12}}
	for i, p := range []m3.Vec3{m3.V(0.026, 0.024, 0.009), m3.V(0.046, 0.0405, 0.015), m3.V(0.066, 0.048, 0.020), m3.V(0.083, 0.050, 0.023)} {
		q.path = append(q.path, at(p.X, p.Y, p.Z))
		q.radii = append(q.radii, (0.0125-0.0013*float32(i))*h.u)
	}
	h.tubes = append(h.tubes, q)
}

func (h *human) leg(name string) {
	_, s, _ := side(name)
	hip, knee, ankle, ball := h.at(name+"UpLeg"), h.at(name+"Leg"), h.at(name+"Foot"), h.at(name+"ToeBase")
	v := func(x, y, z float32) m3.Vec3 { return m3.V(s*x, y, z).Scale(h.u) }
	down := ankle.Sub(knee).Normalize(m3.Up)

	h.on(name+"UpLeg", hip.Add(v(0.004, -0.015, -0.006)), hip.Lerp(knee, 0.55).Add(v(0, 0, 0.002)), 0.0830, 0.0690, 0.025)
	h.on(name+"UpLeg", hip.Lerp(knee, 0.50).Add(v(0, 0, 0.002)), knee.Add(v(0, 0, 0.002)), 0.0690, 0.0560, 0.02)
	h.on(name+"Leg", knee.Add(v(0, 0, 0.002)), knee.Lerp(ankle, 0.30).Add(v(0, 0, -0.010)), 0.0560, 0.0590, 0.02)
	hem := ankle.Lerp(knee, trouserHem)
	h.on(name+"Leg", knee.Lerp(ankle, 0.30).Add(v(0, 0, -0.010)), ankle.Add(v(0, 0, -0.010)), 0.0590, 0.0500, 0.02).ending(hem, down)
	h.on(name+"Leg", knee.Lerp(ankle, 0.6), ankle.Add(v(0, 0, -0.004)), 0.042, 0.038, 0.006)

	// The shoe is level for any height of the ankle over the ball.
	dir := ball.Sub(ankle).Flat().Normalize(ahead)
	across := m3.Up.Cross(dir)
	ground := ball.Y - soleUnderBall*h.u
	length := ball.Sub(ankle).Flat().Len() / h.u
	at := func(along, aside, up float32) m3.Vec3 {
		p := ankle.Add(dir.Scale(along * h.u)).Add(across.Scale(aside * s * h.u))
		p.Y = ground + up*h.u
		return p
	}
	foot, toes := name+"Foot", name+"ToeBase"
	tip := float32(0.062)
	if i := h.rig.index(name + "ToeBaseSite"); i >= 0 {
		tip = m3.Clamp(h.bind[i].Pos.Dist(ball)/h.u, 0.04, 0.09)
	}
	sole := func(k *blob) { k.ending(at(0, 0, 0), m3.Up.Neg()) }
	h.on(foot, ankle.Add(v(0, 0.018, -0.004)), at(-0.010, 0, 0.056), 0.0400, 0.0385, 0.012)
	h.on(foot, at(-0.026, 0, 0.047), at(0.03, 0, 0.042), 0.0350, 0.0360, 0.02)
	h.on(foot, at(0.01, 0, 0.063), at(length, -0.002, 0.039), 0.0370, 0.0310, 0.02).flatten(across, 1.12)
	h.on(toes, at(length, -0.001, 0.039), at(length+tip-0.012, -0.006, 0.036), 0.0305, 0.0230, 0.015).flatten(across, 1.35)
	sole(h.on(foot, at(-0.024, 0, 0.008), at(length, 0.001, 0.010), 0.0370, 0.0440, 0.005).flatten(m3.Up, 0.42))
	sole(h.on(toes, at(length, 0.001, 0.010), at(length+tip-0.008, -0.005, 0.016), 0.0440, 0.0330, 0.005).flatten(m3.Up, 0.36))
}

// detail favours small triangles in collar and hands.
func (h *human) detail() func(p m3.Vec3) float32 {
	collar := h.collar()
	wrists := []m3.Vec3{h.at("LeftHand"), h.at("RightHand")}
	within := func(p, c m3.Vec3, r float32) float32 { return m3.Clamp((r-p.Dist(c)/h.u)/0.06, 0, 1) }
	return func(p m3.Vec3) float32 {
		value := 1 + 4*within(p, collar, 0.12)
		for _, w := range wrists {
			if p.Y < w.Y && p.Dist(w) < 0.25*h.u {
				value = 5
			}
		}
		return value
	}
}
