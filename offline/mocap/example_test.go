package mocap_test

import (
	"bytes"
	"fmt"
	"os"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/offline/mocap"
)

const tail = `HIERARCHY
ROOT Hips
{
	OFFSET 0 0 0
	CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
	JOINT Tail
	{
		OFFSET 0 0 -20
		CHANNELS 3 Zrotation Xrotation Yrotation
		End Site
		{
			OFFSET 0 0 -15
		}
	}
}
MOTION
Frames: 2
Frame Time: 0.0166667
0 50 0 0 0 0 0 0 0
0 50 1 0 0 0 0 90 0
`

func ExampleReadBVH() {
	b, err := mocap.ReadBVH("tail.bvh", []byte(tail))
	if err != nil {
		fmt.Println(err)
		return
	}
	c := b.Clip.Scaled(0.01) // centimetres to metres
	fmt.Println(c.Skel.Names, c.Frames, "frames at", c.FPS)

	model := make([]m3.Xform, c.Skel.Len())
	c.Model(model, 1)
	tip := model[c.Skel.Index("TailSite")].Pos
	fmt.Printf("tip %.2f %.2f %.2f\n", tip.X, tip.Y, tip.Z)
	// Output:
	// [Hips Tail TailSite] 2 frames at 60
	// tip 0.00 0.65 -0.19
}

func ExampleReadBVH_error() {
	_, err := mocap.ReadBVH("tail.bvh", []byte(tail[:len(tail)-5]))
	fmt.Println(err)
	// Output:
	// tail.bvh:20: the file ends before Xrotation of "Tail" in frame 2 of 2
}

const walker = `:units
  length 0.45
  angle deg
:root
  order TX TY TZ RX RY RZ
  axis XYZ
  position 0 0 0
  orientation 0 0 0
:bonedata
  begin
    id 1
    name leg
    direction 0 -1 0
    length 15
    axis 0 0 20 XYZ
    dof rx
    limits (-120 15)
  end
:hierarchy
  begin
    root leg
  end
`

const step = `:FULLY-SPECIFIED
:DEGREES
1
root 0 16 0 0 0 0
leg 0
2
root 0 16 0.5 0 0 0
leg -30
`

func ExampleASF_ReadAMC() {
	s, err := mocap.ReadASF("walker.asf", []byte(walker))
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := s.ReadAMC("walker_1.amc", []byte(step), mocap.AMCRate)
	if err != nil {
		fmt.Println(err)
		return
	}
	c := b.Clip.Scaled(float32(s.MetresPerUnit))
	fmt.Println(c.Skel.Names, c.Frames, "frames at", c.FPS)

	model := make([]m3.Xform, c.Skel.Len())
	for f := range c.Frames {
		c.Model(model, f)
		foot := model[c.Skel.Index("legSite")].Pos
		fmt.Printf("foot %.2f %.2f %.2f\n", foot.X, foot.Y, foot.Z)
	}
	// Output:
	// [root leg legSite] 2 frames at 120
	// foot 0.00 0.06 0.00
	// foot -0.04 0.16 0.43
}

func ExampleRecording_Write() {
	b, err := mocap.ReadBVH("tail.bvh", []byte(tail))
	if err != nil {
		fmt.Println(err)
		return
	}
	b.Clip = b.Clip.Resampled(120)
	var out bytes.Buffer
	if err := b.Write(&out); err != nil {
		fmt.Println(err)
		return
	}
	motion := out.Bytes()[bytes.Index(out.Bytes(), []byte("MOTION")):]
	fmt.Print(string(motion))
	// Output:
	// MOTION
	// Frames: 3
	// Frame Time: 0.008333333333333333
	// 0 50 0 0 0 0 0 0 0
	// 0 50 0.5 0 0 0 0 45 0
	// 0 50 1 0 0 0 0 90 0
}

func ExampleWriteClip() {
	s := &skel.Skeleton{
		Names:   []string{"Hips", "HipsSite"},
		Parents: []int16{-1, 0},
		Offsets: []m3.Vec3{{}, {Y: 0.2}},
		EndSite: []bool{false, true},
	}
	c := skel.NewClip(s, 50, 1)
	c.Rot[0] = m3.YawQuat(0.5)
	if err := mocap.WriteClip(os.Stdout, c); err != nil {
		fmt.Println(err)
	}
	// Output:
	// HIERARCHY
	// ROOT Hips
	// {
	// 	OFFSET 0 0 0
	// 	CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
	// 	End Site
	// 	{
	// 		OFFSET 0 0.2 0
	// 	}
	// }
	// MOTION
	// Frames: 1
	// Frame Time: 0.02
	// 0 0 0 0 0 28.64789
}

func ExampleSummarize() {
	b, err := mocap.ReadBVH("tail.bvh", []byte(tail))
	if err != nil {
		fmt.Println(err)
		return
	}
	s := mocap.Summarize(b.Clip)
	fmt.Println(s.Joints, "joints,", s.EndSites, "End Site, reach", s.Reach, "probably in", s.Unit.Name)
	// Output:
	// 2 joints, 1 End Site, reach 35 probably in inch
}
