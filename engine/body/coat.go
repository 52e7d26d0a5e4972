package body

import (
	"strings"

	"mannequin/engine/m3"
)

// coat returns the coat of a dog's vertex at p with normal n that mainly follows joint. The belly,
// muzzle, breast, paws and tip of the tail are light, the back is darker and the nose black. Hair
// is long on thick parts and short on head and feet.
func (d *dog) coat(p, n m3.Vec3, joint int) [4]float32 {
	name := d.rig.Names[joint]
	head := d.at("Head")
	var light, dark float32
	long := float32(1)
	ramp := func(x, from, to float32) float32 {
		t := m3.Clamp((x-from)/(to-from), 0, 1)
		return t * t * (3 - 2*t)
	}
	switch {
	case name == "Head" || name == "HeadSite":
		q := p.Sub(head).Scale(1 / d.u)
		long = ramp(-q.Z, -0.01, 0.05)
		nose := d.at("HeadSite").Dist(head) / d.u / 0.17
		light = ramp(q.Z, 0.055, 0.085) * ramp(0.012-q.Y, -0.01, 0.02)
		light = max(light, ramp(-q.Y, 0.02, 0.045))
		// A blaze between the eyes.
		light = max(light, 0.8*ramp(0.016-m3.Abs(q.X), 0, 0.012)*ramp(q.Z, 0.02, 0.06))
		if q.Z > 0.162*nose && q.Y > -0.036 {
			dark = 1
		}
		if m3.Abs(q.X) > 0.05 { // ears
			light, dark = 0, 0.5
		}
	case name == "Tail1" || name == "Tail1Site":
		light = ramp(p.Dist(d.at("Tail1")), 0.11*d.u, 0.16*d.u)
	case strings.Contains(name, "Hand") || strings.HasSuffix(name, "Foot") || strings.HasSuffix(name, "FootSite"):
		light, long = ramp(0.11*d.u-p.Y, 0, 0.04*d.u), ramp(p.Y, 0.06*d.u, 0.16*d.u)
	default:
		// The belly line rises toward the breast.
		under := ramp(-n.Y, 0.25, 0.75)
		breast := ramp(n.Z, 0.35, 0.75) * ramp(p.Z, d.at("Neck").Z-0.03*d.u, d.at("Neck").Z+0.03*d.u) * ramp(0.05-m3.Abs(p.X)/d.u, 0, 0.03)
		light = max(under, breast)
		if strings.HasSuffix(name, "Leg") || strings.HasSuffix(name, "ForeArm") || strings.HasSuffix(name, "Arm") {
			light *= 0.3
		}
		dark = 0.40 * ramp(n.Y, 0.15, 0.9) * ramp(p.Y, d.at("Hips").Y-0.05*d.u, d.at("Hips").Y+0.02*d.u)
	}
	return [4]float32{light, dark, long}
}
