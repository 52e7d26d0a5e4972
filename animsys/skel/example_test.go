package skel_test

import (
	"fmt"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// arms is a body with two arms that reach out to its sides.
func arms() *skel.Skeleton {
	return &skel.Skeleton{
		Names:   []string{"Hips", "LeftArm", "RightArm"},
		Parents: []int16{-1, 0, 0},
		Offsets: []m3.Vec3{{Y: 1}, {X: 0.2}, {X: -0.2}},
		EndSite: make([]bool, 3),
	}
}

func ExampleSkeleton_LocalToModel() {
	s := arms()
	c := skel.NewClip(s, 60, 1) // one frame at rest
	pos, rot := c.Frame(0)
	rot[0] = m3.YawQuat(m3.WrapAngle(3.14159265 / 2)) // face +X: the left arm points to −Z
	model := make([]m3.Xform, s.Len())
	s.LocalToModel(model, pos, rot)
	p := model[s.Index("LeftArm")].Pos
	fmt.Printf("%.1f %.1f %.1f\n", p.X, p.Y, p.Z)
	// Output:
	// 0.0 1.0 -0.2
}

func ExampleClip_Resampled() {
	c := skel.NewClip(arms(), 30, 2)
	c.Pos[3] = m3.V(0, 1, 0.5) // the second frame's root
	d := c.Resampled(60)
	root, _ := d.Frame(1)
	fmt.Println(d.Frames, "frames, half-way at", root[0].Z)
	// Output:
	// 3 frames, half-way at 0.25
}

func ExampleClip_Mirrored() {
	m, err := skel.NewMirror(arms())
	if err != nil {
		fmt.Println(err)
		return
	}
	c := skel.NewClip(arms(), 60, 1)
	c.Pos[0].X = 3
	d := c.Mirrored(m)
	model := make([]m3.Xform, 3)
	d.Model(model, 0)
	fmt.Println(d.Skel.Names[1], "at", model[1].Pos)
	// Output:
	// LeftArm at {-2.8 1 0}
}
