package resident

import (
	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/animsys/internal/kernels"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/netruntime"
)

// motion is a kind of agents: how they move, on the GPU and on the processor. It has room for one agent, whose state passes through.
type motion interface {
	skeleton() *skel.Skeleton
	rig(*ik.Roles) (generator.Rig, error)
	networks() []*netruntime.Net
	stages() []stage
	// shader returns the kernels for networks at some places of their memory, and the length of an agent's row there.
	shader(places []places) (text *kernels.Text, rowLen int, err error)
	goalLen() int                                   // float32s of a goal
	putGoal(words []float32, g *control.Goal)       // the sixth is 1, for an agent that is there
	processor(n, workers int) (moving, error)       // moves n agents on the processor
	bring(feature.Place) error                      // the agent that passes through is a new one
	restore(*generator.State) (control.Goal, error) // or one in a saved state
	shift(m3.Vec3)
	save(*generator.State, *control.Goal)
	leave() // it has passed through
	close() error
	moving // of agent 0
}

// moving moves agents on the processor. pack and unpack convert between its agents and the rows of the kernels.
type moving interface {
	pack(row []float32, agent int)
	unpack(agent int, row []float32) error
	step(words []float32, there func(agent int)) error // there is called for each agent that moved
	root(agent int) Root                               // Hips is on flat ground
	pose(agent int) ([]m3.Vec3, []m3.Quat)             // local, the root's in world space, on flat ground
	end() error
}

// stage is a kernel, or a network: a step of a tick on the GPU.
type stage struct {
	kernel  string // "" runs the network
	network int    // whose memory the kernel sees
	each    bool   // a thread of the kernel works on an agent; otherwise a workgroup does
}

// places are where the inputs and the outputs of a network begin in its memory, in float32s.
type places struct{ in, out int }

// alive is the number of a goal that is 1 if the agent is there.
const alive = 5

// group is the number of threads of a workgroup.
const group = 64
