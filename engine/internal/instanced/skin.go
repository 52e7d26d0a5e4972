package instanced

import "mannequin/engine/m3"

// Skin appends the places of a level's vertices for a character, in the crowd's space.
func (c *Crowd) Skin(dst []m3.Vec3, character, level int) []m3.Vec3 {
	m := &c.Body.Levels[level]
	size := 4 * c.texels()
	rows := c.bones[character*size:]
	for v, p := range m.Pos {
		var sum m3.Vec3
		for k, w := range m.Weights[v] {
			if w == 0 {
				continue
			}
			r := rows[12*int(m.Joints[v][k]):]
			sum.X += w * (r[0]*p.X + r[1]*p.Y + r[2]*p.Z + r[3])
			sum.Y += w * (r[4]*p.X + r[5]*p.Y + r[6]*p.Z + r[7])
			sum.Z += w * (r[8]*p.X + r[9]*p.Y + r[10]*p.Z + r[11])
		}
		dst = append(dst, sum)
	}
	return dst
}
