package api

import (
	"math"
	"strings"
	"sync"

	"mannequin/animsys/layer"
	"mannequin/animsys/skel"
	"mannequin/animsys/skin"
	"mannequin/engine/m3"
)

// Clip is an animation of the host's.
type Clip struct{ clip *layer.Clip }

// clipIDs finds the ids of clips that play.
var clipIDs sync.Map // *layer.Clip to ID

func idOf(k *layer.Clip) ID {
	if k == nil {
		return ID{}
	}
	id, _ := clipIDs.Load(k)
	own, _ := id.(ID)
	return own
}

// ClipOptions say what clip CreateClip makes: of the file in Bytes, or of the arrays in Rotations and Positions. See mqClipDef.
type ClipOptions struct {
	Name      string
	Bytes     []byte // may be the host's: it is not kept
	Animation string

	Rotations []m3.Quat // (frames, joints)
	Positions []m3.Vec3 // (frames)
	FPS       float32
	Space     Space

	Markers   []layer.Marker
	Reference int
}

// CreateClip makes a clip for a model.
func CreateClip(model ID, o ClipOptions) (ID, error) {
	m, err := models.get(model)
	if err != nil {
		return ID{}, err
	}
	if err := text("the clip's name", o.Name); err != nil {
		return ID{}, err
	}
	if err := text("the animation's name", o.Animation); err != nil {
		return ID{}, err
	}
	for _, k := range o.Markers {
		if err := text("a marker's name", k.Name); err != nil {
			return ID{}, err
		}
	}
	var motion *skel.Clip
	if o.Bytes != nil {
		motion, err = readMotion(o)
	} else {
		motion, err = m.arrays(o)
	}
	if err != nil {
		return ID{}, err
	}
	k, err := layer.New(m.Skel, motion, layer.ClipOptions{Name: o.Name, Markers: o.Markers, Reference: o.Reference})
	if err != nil {
		return ID{}, coded(Argument, err)
	}
	id, err := clips.add(&Clip{k})
	if err == nil {
		clipIDs.Store(k, id)
	}
	return id, err
}

// readMotion reads an animation of a file.
func readMotion(o ClipOptions) (*skel.Clip, error) {
	all, err := skin.ReadMotions("the clip", append([]byte(nil), o.Bytes...))
	if err != nil {
		return nil, coded(File, err)
	}
	var names []string
	for i := range all {
		if o.Animation == "" || all[i].Name == o.Animation {
			return all[i].Clip, nil
		}
		names = append(names, all[i].Name)
	}
	return nil, Errorf(File, "the file has no animation %q: it has %s", o.Animation, strings.Join(names, ", "))
}

// arrays returns the motion that the host's numbers say.
func (m *Model) arrays(o ClipOptions) (*skel.Clip, error) {
	a, err := o.Space.axes()
	if err != nil {
		return nil, err
	}
	frames, joints := len(o.Positions), m.Skel.Len()
	if frames < 1 || len(o.Rotations) != frames*joints {
		return nil, Errorf(Argument, "%d frames with %d rotations: want at least one frame, and %d rotations each", frames, len(o.Rotations), joints)
	}
	if !(o.FPS > 0 && o.FPS <= layer.MaxFPS) {
		return nil, Errorf(Argument, "%g frames a second: want up to %d", o.FPS, layer.MaxFPS)
	}
	c := skel.NewClip(m.Skel, float64(o.FPS), frames)
	for f := range frames {
		c.Pos[f*joints] = a.fromPoint(o.Positions[f])
	}
	for i, q := range o.Rotations {
		if l := math.Sqrt(float64(q.Dot(q))); !(l > 0.5 && l < 2) {
			return nil, Errorf(Argument, "frame %d: the rotation of %s is %v: want a length of 1", i/joints, m.Skel.Names[i%joints], q)
		}
		c.Rot[i] = a.fromRot(q).Normalize()
	}
	return c, nil
}

// DestroyClip forgets a clip.
func DestroyClip(id ID) error {
	k, err := clips.remove(id)
	if err == nil {
		clipIDs.Delete(k.clip)
	}
	return err
}

// Seconds returns the time that a clip takes.
func Seconds(id ID, loop bool) (float64, error) {
	k, err := clips.get(id)
	if err != nil {
		return 0, err
	}
	return k.clip.Seconds(loop), nil
}

// PlayOptions say how a clip is played; see mqPlayDef.
type PlayOptions struct {
	layer.PlayOptions
	Mask, Joint int32
}

// own returns the options with the mask of a model.
func (o PlayOptions) own(m *Model) (layer.PlayOptions, error) {
	if err := validLayer(int32(o.Layer)); err != nil {
		return o.PlayOptions, err
	}
	var err error
	o.PlayOptions.Mask, err = m.mask(maskKey{o.Mask, o.Joint})
	return o.PlayOptions, err
}

// maskKey is which joints a clip plays on.
type maskKey struct{ mask, joint int32 }

// The masks of mq_mask.
const (
	maskAll = iota
	maskUpperBody
	maskArms
	maskHead
	maskTail
	maskJoint
)

// mask returns a mask, which is made once.
func (m *Model) mask(k maskKey) (*layer.Mask, error) {
	if k.mask != maskJoint {
		k.joint = 0
	}
	m.masksMutex.Lock()
	defer m.masksMutex.Unlock()
	if mask, ok := m.masks[k]; ok {
		return mask, nil
	}
	var mask *layer.Mask
	var err error
	switch k.mask {
	case maskAll:
		return nil, nil
	case maskUpperBody:
		mask, err = layer.UpperBody(m.Skel)
	case maskArms:
		mask, err = layer.Arms(m.Skel)
	case maskHead:
		mask, err = layer.Head(m.Skel)
	case maskTail:
		mask, err = layer.Tail(m.Skel)
	case maskJoint:
		if k.joint < 0 || int(k.joint) >= m.Skel.Len() {
			return nil, Errorf(Argument, "maskJoint is %d: the model has the joints 0 to %d", k.joint, m.Skel.Len()-1)
		}
		mask, err = layer.Joints(m.Skel, m.Skel.Names[k.joint])
	default:
		return nil, Errorf(Argument, "the mask is %d: want 0 to %d", k.mask, maskJoint)
	}
	if err != nil {
		return nil, coded(Argument, err)
	}
	if m.masks == nil {
		m.masks = map[maskKey]*layer.Mask{}
	}
	m.masks[k] = mask
	return mask, nil
}
