package recipes

import (
	"mannequin/animsys/latent"
	"mannequin/offline/dataset"
)

// LatentClips returns how recordings in dirs are read: as clips that overlap by 31 frames (Lüdi
// 2016, sec. 3.2). If neither heldOut nor the first folder says what is held out, [LatentHeldOut]
// does.
func LatentClips(dirs, only, heldOut []string, repeat, workers int) (dataset.MotionOptions, error) {
	if heldOut == nil {
		src, err := dataset.ReadSource(dirs[0])
		if err != nil {
			return dataset.MotionOptions{}, err
		}
		if src == nil {
			heldOut = LatentHeldOut
		}
	}
	return dataset.MotionOptions{Only: only, HeldOut: heldOut, Repeat: repeat, Workers: workers, Whole: true,
		Length: latent.Frames, Hop: latent.Frames - 31, Shortest: latent.Frames}, nil
}
