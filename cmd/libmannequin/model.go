package main

/*
#define MQ_NO_PROTOTYPES
#include "mannequin.h"
*/
import "C"

import (
	"unsafe"

	"mannequin/animsys/layer"
	"mannequin/cmd/libmannequin/internal/api"
	"mannequin/engine/m3"
)

//export mqCreateModel
func mqCreateModel(bytes unsafe.Pointer, size C.size_t, model *C.mqModelId) (r C.mqResult) {
	defer guard(&r, faults())
	file, err := memory("bytes", bytes, size)
	return checked(func() error {
		m, err := api.CreateModel(file)
		if err == nil {
			set(model, m)
		}
		return err
	}, err, to("model", model))
}

//export mqDestroyModel
func mqDestroyModel(model C.mqModelId) (r C.mqResult) {
	defer guard(&r, faults())
	return failed(api.DestroyModel(id(model)))
}

// ofModel calls f with a model.
func ofModel(model C.mqModelId, f func(m *api.Model) error) error {
	m, err := api.ModelOf(id(model))
	if err != nil {
		return err
	}
	return f(m)
}

//export mqModel_GetInfo
func mqModel_GetInfo(model C.mqModelId, info *C.mqModelInfo) (r C.mqResult) {
	defer guard(&r, faults())
	return checked(func() error {
		return ofModel(model, func(m *api.Model) error {
			*info = C.mqModelInfo{kind: C.int32_t(m.Kind), joints: C.int32_t(m.Skel.Len()), legs: C.int32_t(m.Legs), topSpeed: C.float(m.TopSpeed)}
			name(&info.name, m.Name)
			name(&info.license, m.License)
			return nil
		})
	}, to("info", info))
}

//export mqModel_GetJoint
func mqModel_GetJoint(model C.mqModelId, index C.int32_t, in *C.mqSpace, joint *C.mqJoint) (r C.mqResult) {
	defer guard(&r, faults())
	return checked(func() error {
		return ofModel(model, func(m *api.Model) error {
			of := api.Own
			if in != nil {
				of = space(*in)
			}
			j, err := m.Joint(int(index), of)
			if err != nil {
				return err
			}
			*joint = C.mqJoint{parent: C.int32_t(j.Parent), offset: cvec(j.Offset)}
			name(&joint.name, j.Name)
			return nil
		})
	}, optional("space", in), to("joint", joint))
}

//export mqModel_FindJoint
func mqModel_FindJoint(model C.mqModelId, text *C.char, index *C.int32_t) (r C.mqResult) {
	defer guard(&r, faults())
	s, err := str("name", text)
	return checked(func() error {
		return ofModel(model, func(m *api.Model) error {
			i, err := m.FindJoint(s)
			if err == nil {
				*index = C.int32_t(i)
			}
			return err
		})
	}, to("name", text), err, to("index", index))
}

//export mqModel_FindAction
func mqModel_FindAction(model C.mqModelId, text *C.char, action *C.int32_t) (r C.mqResult) {
	defer guard(&r, faults())
	s, err := str("name", text)
	return checked(func() error {
		return ofModel(model, func(m *api.Model) error {
			a, err := m.FindAction(s)
			if err == nil {
				*action = C.int32_t(a)
			}
			return err
		})
	}, to("name", text), err, to("action", action))
}

//export mqDefaultClipDef
func mqDefaultClipDef() C.mqClipDef {
	return C.mqClipDef{cookie: cookie[C.mqClipDef](), framesPerSecond: 30, space: mqGetSpace(C.mq_engineNone)}
}

//export mqCreateClip
func mqCreateClip(model C.mqModelId, d *C.mqClipDef, clip *C.mqClipId) (r C.mqResult) {
	defer guard(&r, faults())
	return checked(func() error {
		return ofModel(model, func(m *api.Model) error {
			o, err := clipOptions(d, m.Skel.Len())
			if err != nil {
				return err
			}
			k, err := api.CreateClip(id(model), o)
			if err == nil {
				set(clip, k)
			}
			return err
		})
	}, def("the definition", d), to("clip", clip))
}

// clipOptions copies what a definition says of a clip for a number of joints.
func clipOptions(d *C.mqClipDef, joints int) (o api.ClipOptions, err error) {
	if o.Name, err = str("the clip's name", d.name); err != nil {
		return o, err
	}
	if o.Animation, err = str("the animation's name", d.animation); err != nil {
		return o, err
	}
	o.FPS, o.Space, o.Reference = float32(d.framesPerSecond), space(d.space), int(d.reference)
	var stride C.int32_t
	if d.markerCount > layer.MaxMarkers {
		return o, api.Errorf(api.Argument, "the clip has %d markers: at most %d are allowed", d.markerCount, layer.MaxMarkers)
	}
	if err := list("markers", d.markers, d.markerCount, &stride); err != nil {
		return o, err
	}
	for i := range int(d.markerCount) {
		k := at(d.markers, i, stride)
		text, err := str("a marker's name", k.name)
		if err != nil {
			return o, err
		}
		o.Markers = append(o.Markers, layer.Marker{Name: text, Time: float32(k.seconds)})
	}
	if (d.bytes == nil) == (d.rotations == nil) {
		return o, api.Errorf(api.Argument, "a clip is made of bytes or of rotations: set one of them")
	}
	if d.bytes != nil {
		if o.Bytes, err = memory("bytes", d.bytes, d.size); err == nil && o.Bytes == nil {
			err = api.Errorf(api.Argument, "size is 0")
		}
		return o, err
	}
	if d.frames < 1 || d.frames > layer.MaxFrames {
		return o, api.Errorf(api.Argument, "the clip has %d frames: want 1 to %d", d.frames, layer.MaxFrames)
	}
	var ofRotations, ofPositions C.int32_t
	if err := list("rotations", d.rotations, d.frames, &ofRotations); err != nil {
		return o, err
	}
	if err := list("positions", d.positions, d.frames, &ofPositions); err != nil {
		return o, err
	}
	o.Rotations, o.Positions = make([]m3.Quat, int(d.frames)*joints), make([]m3.Vec3, d.frames)
	for i := range o.Rotations {
		q := at(d.rotations, i, ofRotations)
		o.Rotations[i] = m3.Quat{X: float32(q.x), Y: float32(q.y), Z: float32(q.z), W: float32(q.w)}
	}
	for i := range o.Positions {
		o.Positions[i] = vec(*at(d.positions, i, ofPositions))
	}
	return o, nil
}

//export mqDestroyClip
func mqDestroyClip(clip C.mqClipId) (r C.mqResult) {
	defer guard(&r, faults())
	return failed(api.DestroyClip(id(clip)))
}

//export mqClip_GetSeconds
func mqClip_GetSeconds(clip C.mqClipId, loop C.int32_t, seconds *C.double) (r C.mqResult) {
	defer guard(&r, faults())
	return checked(func() error {
		s, err := api.Seconds(id(clip), flag(loop))
		if err == nil {
			*seconds = C.double(s)
		}
		return err
	}, to("seconds", seconds))
}
