//go:build cgo || wasip1

package main

import (
	"slices"

	"mannequin/animsys/layer"
	"mannequin/cmd/libmannequin/internal/api"
	"mannequin/engine/m3"
)

func createModel(bytes address, size uint64, model ptr[api.ID]) (err error) {
	file, out := memory(&err, "bytes", bytes, size), to(&err, "model", model)
	if err != nil {
		return err
	}
	m, err := api.CreateModel(file)
	if err == nil {
		*out = m
	}
	return err
}

type modelInfo struct {
	kind, joints, legs int32
	topSpeed           float32
	name, license      name
}

func getInfo(model api.ID, info ptr[modelInfo]) (err error) {
	out := to(&err, "info", info)
	if err != nil {
		return err
	}
	m, err := api.ModelOf(model)
	if err == nil {
		*out = modelInfo{m.Kind, int32(m.Skel.Len()), int32(m.Legs), m.TopSpeed, text(m.Name), text(m.License)}
	}
	return err
}

type jointInfo struct {
	name   name
	parent int32
	offset m3.Vec3
}

func getJoint(model api.ID, index int32, space ptr[api.Space], joint ptr[jointInfo]) (err error) {
	in, out := optional(&err, "space", space), to(&err, "joint", joint)
	if err != nil {
		return err
	}
	m, err := api.ModelOf(model)
	if err != nil {
		return err
	}
	of := api.Own
	if in != nil {
		of = *in
	}
	j, err := m.Joint(int(index), of)
	if err == nil {
		*out = jointInfo{text(j.Name), int32(j.Parent), j.Offset}
	}
	return err
}

// find writes the index of a name of a model's.
func find[N int | ~uint8](model api.ID, text ptr[byte], index ptr[int32], of func(*api.Model, string) (N, error)) (err error) {
	to(&err, "name", text)
	s, out := str(&err, "name", text), to(&err, "index", index)
	if err != nil {
		return err
	}
	m, err := api.ModelOf(model)
	if err != nil {
		return err
	}
	i, err := of(m, s)
	if err == nil {
		*out = int32(i)
	}
	return err
}

type marker struct {
	name    ptr[byte]
	seconds float32
}

type clipDef struct {
	cookie                 uint32
	name                   ptr[byte]
	bytes                  address
	size                   length
	animation              ptr[byte]
	rotations              ptr[m3.Quat]
	positions              ptr[m3.Vec3]
	frames                 int32
	framesPerSecond        float32
	space                  api.Space
	markers                ptr[marker]
	markerCount, reference int32
}

func defaultClipDef() clipDef {
	return clipDef{cookie: cookie[clipDef](), framesPerSecond: 30, space: api.Own}
}

func createClip(model api.ID, def ptr[clipDef], clip ptr[api.ID]) (err error) {
	d, out := definition(&err, "the definition", def), to(&err, "clip", clip)
	if err != nil {
		return err
	}
	m, err := api.ModelOf(model)
	if err != nil {
		return err
	}
	o, err := clipOptions(d, m.Skel.Len())
	if err != nil {
		return err
	}
	k, err := api.CreateClip(model, o)
	if err == nil {
		*out = k
	}
	return err
}

// clipOptions copies what a definition says of a clip for a number of joints.
func clipOptions(d *clipDef, joints int) (o api.ClipOptions, err error) {
	o.Name, o.Animation = str(&err, "the clip's name", d.name), str(&err, "the animation's name", d.animation)
	o.FPS, o.Space, o.Reference = d.framesPerSecond, d.space, int(d.reference)
	for _, k := range array(&err, "markers", d.markers, d.markerCount, layer.MaxMarkers) {
		o.Markers = append(o.Markers, layer.Marker{Name: str(&err, "a marker's name", k.name), Time: k.seconds})
	}
	if err != nil {
		return o, err
	}
	if (number(d.bytes) == 0) == (number(d.rotations.at) == 0) {
		return o, api.Errorf(api.Argument, "a clip is made of bytes or of rotations: set one of them")
	}
	if number(d.bytes) != 0 {
		if o.Bytes = memory(&err, "bytes", d.bytes, uint64(d.size)); err == nil && o.Bytes == nil {
			err = api.Errorf(api.Argument, "size is 0")
		}
		return o, err
	}
	if d.frames < 1 || d.frames > layer.MaxFrames {
		return o, api.Errorf(api.Argument, "the clip has %d frames: want 1 to %d", d.frames, layer.MaxFrames)
	}
	n := d.frames * int32(joints)
	o.Rotations = slices.Clone(array(&err, "rotations", d.rotations, n, n))
	o.Positions = slices.Clone(array(&err, "positions", d.positions, d.frames, d.frames))
	return o, err
}

func getSeconds(clip api.ID, loop int32, seconds ptr[float64]) (err error) {
	out := to(&err, "seconds", seconds)
	if err != nil {
		return err
	}
	s, err := api.Seconds(clip, flag(loop))
	if err == nil {
		*out = s
	}
	return err
}
