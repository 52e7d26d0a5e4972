package layer

import (
	"reflect"
	"slices"
	"testing"

	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// Clips and masks come back from their bytes as they were, and play on their own skeleton only.
func TestBytes(t *testing.T) {
	clip, mask := written(t)
	var again Clip
	must.Do(t, again.UnmarshalBinary(must.Get(clip.AppendBinary(nil))(t)))
	if again.adopt(clip.sk, clip.skeleton+1); again.sk != nil {
		t.Error("another skeleton is taken")
	}
	if again.adopt(clip.sk, clip.skeleton); !reflect.DeepEqual(&again, clip) {
		t.Errorf("another clip came back")
	}
	own := *clip
	own.own = &ownPart{sum: 5, turns: slices.Repeat([]m3.Quat{pitch(0.3)}, 2*clip.frames)}
	var mine Clip
	must.Do(t, mine.UnmarshalBinary(must.Get(own.AppendBinary(nil))(t)))
	if mine.adopt(clip.sk, clip.skeleton); !reflect.DeepEqual(&mine, &own) {
		t.Errorf("another clip of a character's own skeleton came back")
	}
	own.own.turns = own.own.turns[1:]
	must.Fail(0, mine.UnmarshalBinary(must.Get(own.AppendBinary(nil))(t)))(t, "its values are out of range")
	var m Mask
	must.Do(t, m.UnmarshalBinary(must.Get(mask.AppendBinary(nil))(t)))
	if m.adopt(mask.sk, mask.skeleton); !reflect.DeepEqual(&m, mask) {
		t.Errorf("%+v came back as %+v", mask, m)
	}
}

func FuzzBytes(f *testing.F) {
	clip, mask := written(f)
	f.Add(must.Get(clip.AppendBinary(nil))(f))
	clip.own = &ownPart{sum: 5, turns: slices.Repeat([]m3.Quat{pitch(0.3)}, 2*clip.frames)}
	f.Add(must.Get(clip.AppendBinary(nil))(f))
	f.Add(must.Get(mask.AppendBinary(nil))(f))
	f.Fuzz(func(t *testing.T, b []byte) {
		var c, again Clip
		if c.UnmarshalBinary(b) == nil {
			if must.Do(t, again.UnmarshalBinary(must.Get(c.AppendBinary(nil))(t))); !reflect.DeepEqual(c, again) {
				t.Fatal("another clip came back")
			}
		}
		var m, same Mask
		if m.UnmarshalBinary(b) == nil {
			if must.Do(t, same.UnmarshalBinary(must.Get(m.AppendBinary(nil))(t))); !reflect.DeepEqual(m, same) {
				t.Fatal("another mask came back")
			}
		}
	})
}

func written(t testing.TB) (*Clip, *Mask) {
	clip := clipOf(t, chain(), 30, 12, func(s float32) float32 { return s }, Marker{"a", 0.1}, Marker{"b", 0.2})
	return clip, must.Get(Joints(clip.sk, "Spine"))(t)
}
