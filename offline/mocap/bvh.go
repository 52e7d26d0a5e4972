package mocap

import (
	"fmt"
	"math"

	"mannequin/animsys/skel"
	"mannequin/animsys/skin"
	"mannequin/engine/m3"
	"mannequin/internal/boundedfile"
)

// Channel is one animated number of a BVH joint.
type Channel uint8

// The channels of a BVH joint: translations in the file's unit of length and rotations in degrees.
const (
	Xposition Channel = iota
	Yposition
	Zposition
	Xrotation
	Yrotation
	Zrotation
)

var channelNames = [...]string{"Xposition", "Yposition", "Zposition", "Xrotation", "Yrotation", "Zrotation"}

// String returns the channel's name as BVH files spell it.
func (c Channel) String() string {
	if int(c) < len(channelNames) {
		return channelNames[c]
	}
	return fmt.Sprintf("Channel(%d)", uint8(c))
}

// Rotation reports whether c is a rotation.
func (c Channel) Rotation() bool { return c >= Xrotation }

// Axis returns 0, 1 or 2 for the x, y or z axis.
func (c Channel) Axis() int { return int(c) % 3 }

// Recording is a motion with its skeleton, as a BVH file holds it, read from any format.
type Recording struct {
	Format    Format      // of the file that it was read from
	Clip      *skel.Clip  // motion in the file's unit of length
	Channels  [][]Channel // per joint of Clip.Skel, in file order; none for End Sites
	FrameTime float64     // seconds per frame as the file says; Clip.FPS is its inverse, tidied
	Notes     []string    // oddities that were skipped, each with file and line

	// Parts maps joints of the uniform skeleton (offline/retarget.Human) to those of Clip if the file says
	// which they are, as VRM files do. It is nil otherwise.
	Parts map[string]string
	// Rest is the joints at rest if the file says how they stand then, as glTF files do: see AtRest.
	Rest []m3.Xform

	// Of Open alone:
	Up        string  // the axis that points up, if OpenOptions says it
	LikelyFPS float64 // frames per second that the file probably means, if what it says is improbable; else 0

	plain []string // per joint, its name as the file has it; nil: as in Clip.Skel
	doubt error    // of the frame rate
}

// AtRest returns the motion on joints that have the world's axes at rest, as skin.Motion.AtRest does, or as
// it is if the file does not say how joints rest.
func (b *Recording) AtRest() *skel.Clip {
	m := skin.Motion{Clip: b.Clip, Rest: b.Rest}
	return m.AtRest()
}

// NumChannels returns the number of values in one frame of the file.
func (b *Recording) NumChannels() int {
	n := 0
	for _, c := range b.Channels {
		n += len(c)
	}
	return n
}

// SyntaxError is a mistake in a file's text, with its line.
type SyntaxError struct {
	File string
	Line int // 1-based
	Msg  string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg) }

// maxFileSize is the largest file that is loaded, in bytes.
const maxFileSize = 2 << 30

// OpenBVH reads the BVH file at path.
func OpenBVH(path string) (*Recording, error) {
	data, err := boundedfile.Read(path, maxFileSize)
	if err != nil {
		return nil, err
	}
	return ReadBVH(path, data)
}

// tidyRate returns the frame rate for a frame time in seconds: its inverse, or
// the whole number within 0.05 % of it, because files round the frame time to few
// digits. Film and video rates, 24 and 23.976 Hz, are 0.1 % apart and stay apart.
func tidyRate(frameTime float64) float64 {
	fps := 1 / frameTime
	if r := math.Round(fps); r > 0 && math.Abs(fps-r) <= 5e-4*r {
		return r
	}
	return fps
}
