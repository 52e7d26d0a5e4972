package retarget_test

import (
	"fmt"
	"io"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/offline/retarget"
)

// A clip of the skeleton that plays itself, in centimetres.
func Example() {
	human := retarget.Human()
	clip := skel.NewClip(human, 60, 30).Scaled(100)
	for f := range clip.Frames {
		clip.Pos[f*human.Len()] = m3.V(0, 95, float32(f))
	}

	job := retarget.Default()
	job.Source, job.Profile = clip, retarget.Detect(clip.Skel)
	out, report, err := job.Run()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: %d frames, 1 unit is %.3g m, mean error %.2f cm\n", report.Profile, out.Frames, report.Scale, report.MeanCM)
	// Output: cmu: 30 frames, 1 unit is 0.01 m, mean error 0.00 cm
}

func ExampleSuggest() {
	clip := skel.NewClip(retarget.Human(), 60, 1)
	for i, name := range clip.Skel.Names {
		if name == "LeftUpLeg" {
			clip.Skel.Names[i] = "thigh_l"
		}
	}
	s := retarget.Suggest("mine", clip)
	if s.Err != nil {
		fmt.Println(s.Err)
		return
	}
	fmt.Println(s.Found[1].Joint, "is", s.Found[1].Source)
	if err := s.Write(io.Discard); err != nil { // a profile to edit
		fmt.Println(err)
	}
	// Output: LeftUpLeg is thigh_l
}
