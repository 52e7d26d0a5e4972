//go:build !js

package stage

import (
	"bytes"
	"image"
	"math"
	"testing"
	"unsafe"

	"mannequin/engine/body"
	"mannequin/engine/internal/gl"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

// fill returns a buffer with the matrices of characters, by the definition of a skinning matrix.
func fill(t testing.TB, c *Compute, b *body.Body, bones []m3.Xform) uint32 {
	t.Helper()
	var rows []float32
	for i, x := range bones {
		x = x.Mul(b.Bind[i%len(b.Bind)].Inv())
		ex, ey, ez := x.Rot.Rotate(m3.V(1, 0, 0)), x.Rot.Rotate(m3.V(0, 1, 0)), x.Rot.Rotate(m3.V(0, 0, 1))
		rows = append(rows, ex.X, ey.X, ez.X, x.Pos.X, ex.Y, ey.Y, ez.Y, x.Pos.Y, ex.Z, ey.Z, ez.Z, x.Pos.Z)
	}
	buffer := must.Get(c.NewBuffer(int64(4 * len(rows))))(t)
	t.Cleanup(func() { c.DeleteBuffer(buffer) })
	c.Write(buffer, 0, unsafe.Slice((*byte)(unsafe.Pointer(&rows[0])), 4*len(rows)))
	must.Do(t, c.Error())
	return buffer
}

// computeOf returns the compute shaders of a stage, or skips the test where there are none.
func computeOf(t testing.TB, s *Stage) *Compute {
	t.Helper()
	c, err := s.Compute()
	if err != nil {
		t.Skip("no compute shaders: ", err)
	}
	return c
}

// Characters whose matrices are in a buffer look as those whose bones the processor has, with their shadows and the dark ground below
// them, also when the one takes over from the other.
func TestCrowdFromBuffer(t *testing.T) {
	s := open(t, 320, 180)
	c, b := computeOf(t, s), grown(t, dogBody)
	s.SetGround(flat)
	s.Camera.Place(m3.V(0, 2.5, 7), m3.V(0, 0.4, 0))
	none := shoot(t, s, View{})
	var bones, hips []m3.Xform
	var tint [][3]float32
	for i := range 20 { // a line of the texture has twelve
		at := m3.Xform{Pos: m3.V(float32(i%5)*1.4-2.8, 0.1*float32(i%3), float32(i/5)*1.5-3), Rot: m3.YawQuat(float32(i))}
		for _, x := range b.Bind {
			bones = append(bones, at.Mul(x))
		}
		hips = append(hips, m3.Xform{Pos: bones[i*len(b.Bind)].Pos, Rot: at.Rot})
		tint = append(tint, [3]float32{0.1 + 0.04*float32(i), 0.3, 0.2})
	}
	crowd := newCrowd(t, s, b, bones, tint)
	want := shoot(t, s, View{})
	buffer := fill(t, c, b, bones)
	must.Do(t, crowd.SetFrom(buffer, hips, tint))
	got := shoot(t, s, View{})
	if n := differing(none, want); n < 3000 {
		t.Fatalf("the dogs and their shadows have %d pixels", n)
	}
	if n := differing(want, got); n > 20 { // by rounding
		t.Errorf("%d pixels differ", n)
	}
	if levels, shadows := crowd.instances(); levels[0]+levels[1]+levels[2] != len(hips) || shadows != len(hips) {
		t.Errorf("drew %v and %d shadows of %d", levels, shadows, len(hips))
	}

	nan := float32(math.NaN())
	for i := range hips {
		hips[i].Pos = m3.V(nan, nan, nan)
	}
	must.Do(t, crowd.SetFrom(buffer, hips, tint))
	if n := differing(none, shoot(t, s, View{})); n != 0 {
		t.Errorf("%d pixels of dogs that are nowhere", n)
	}
	must.Do(t, crowd.Set(bones, tint))
	if !bytes.Equal(shoot(t, s, View{}).Pix, want.Pix) {
		t.Error("the processor's bones look otherwise after the buffer")
	}
}

// differing returns the number of pixels in which two pictures differ by more than rounding.
func differing(a, b *image.RGBA) (n int) {
	for i := 0; i < len(a.Pix); i += 4 {
		for k := range 3 {
			if d := int(a.Pix[i+k]) - int(b.Pix[i+k]); d > 4 || d < -4 {
				n++
				break
			}
		}
	}
	return n
}

func TestComputeErrors(t *testing.T) {
	s := open(t, 64, 64)
	crowd := newCrowd(t, s, post(t), nil, nil)
	if crowd.SetFrom(0, nil, nil) == nil {
		t.Error("no buffer: accepted")
	}
	if crowd.SetFrom(1, make([]m3.Xform, 2), make([][3]float32, 1)) == nil {
		t.Error("a tint for two characters: accepted")
	}
	const nothing = 1 << 30
	if c, err := s.Compute(); err != nil {
		t.Log("no compute shaders: ", err)
	} else {
		buffer := must.Get(c.NewBuffer(64))(t)
		data := make([]byte, 64)
		calls := map[string]func(){"Write": func() { c.Write(buffer, 0, data) }, "Read": func() { c.Read(data, buffer, 0) }, "Copy": func() { c.Copy(buffer, buffer, 0, 32, 32) },
			"launches": func() { c.Begin(); c.End() }, "no call": func() {}}
		for name, call := range calls {
			gl.Enable(nothing) // an error of the game's
			if call(); c.Error() != nil {
				t.Errorf("%s has the error of others", name)
			}
		}
		gl.Enable(nothing)
		c.Write(buffer, 32, data)
		c.Write(buffer, 0, data)
		if c.Error() == nil {
			t.Error("a write beyond the end of a buffer: no error")
		}
		if err := c.Error(); err != nil {
			t.Error("an error is reported twice: ", err)
		}
		gl.Enable(nothing)
		if _, err := c.NewProgram("#version 430\nlayout(local_size_x = 1) in; void main() {}"); err != nil || c.Error() != nil {
			t.Error("a program has the error of others: ", err)
		}
		c.DeleteBuffer(buffer)
	}
	s.Close()
	if _, err := s.Compute(); err == nil {
		t.Error("a closed stage has compute shaders")
	}
}
