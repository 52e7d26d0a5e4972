package apidrive

import (
	"fmt"

	"mannequin/animsys/layer"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// clip returns a clip on a crowd's skeleton that turns joints and moves the agent.
func (d *driver) clip(c *crowd) (*layer.Clip, error) {
	motion := skel.NewClip(c.Skel, float64(1+d.IntN(90)), 1+d.IntN(12))
	for f := range motion.Frames {
		pos, rot := motion.Frame(f)
		pos[0] = m3.V(0, 0.8, 0.1*float32(f))
		for j := range rot {
			rot[j] = m3.FromRotationVector(m3.V(d.Float32(), d.Float32(), d.Float32()).Scale(float32(d.IntN(5))))
		}
	}
	return layer.New(c.Skel, motion, layer.ClipOptions{Reference: d.IntN(motion.Frames), Markers: []layer.Marker{{Name: "first"}}})
}

func (d *driver) play(w *world) {
	c := d.crowd(w)
	if c == nil {
		return
	}
	e := d.entity(w)
	clip, err := d.clip(c)
	if err != nil {
		d.expect(err, true)
		return
	}
	o := layer.PlayOptions{Layer: d.IntN(layer.MaxLayers), Loop: d.once(2), Hold: d.once(3), Additive: d.once(3), RootMotion: d.once(3), IgnoreWalls: d.once(2)}
	for _, v := range []*float32{&o.In, &o.Out, &o.Weight, &o.Speed} {
		if d.once(2) {
			*v = d.some(1)
		}
	}
	if d.once(2) {
		o.Mask, err = layer.Joints(c.Skel, c.Skel.Names[d.IntN(c.Skel.Len())])
		d.expect(err, true)
	}
	d.say(w, "Play", c.kind.Name, " ", e, " ", fmt.Sprintf("%+v", o))
	d.expect(c.Play(e, clip, o), o.Validate(clip) == nil && !c.gone && c.agents[e])
}

func (d *driver) stop(w *world) {
	if c := d.crowd(w); c != nil {
		e, layer := d.entity(w), d.IntN(layer.MaxLayers)
		d.say(w, "Stop", c.kind.Name, " ", e, " ", layer)
		d.expect(c.Stop(e, layer, 0), !c.gone && c.agents[e])
		d.expect(c.SetLayer(e, layer, d.Float32(), d.Float32()), !c.gone && c.agents[e])
		c.Playing(e, layer)
		c.Events()
	}
}
