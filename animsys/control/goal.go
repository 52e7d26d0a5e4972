// Package control says what characters should do: goals from a player, an AI or a script, the paths
// that they follow, and the wandering of extras. It knows nothing of networks; animsys/mann and its
// sisters turn a goal into motion.
//
// Directions in a goal are in the character's own frame (+X left, +Z forward, metres, seconds);
// paths are in world space, on the ground.
package control

import (
	"fmt"
	"math"
	"strings"

	"mannequin/engine/m3"
)

// Action is what a character does. Idle is the zero value.
type Action uint8

// The six actions of the quadruped (Zhang, Starke et al. 2018, sec. 5). Stand is to rise on the
// hind legs.
const (
	Idle Action = iota
	Move
	Jump
	Sit
	Lie
	Stand
	NumActions
)

var actionNames = [NumActions]string{"idle", "move", "jump", "sit", "lie", "stand"}

// String returns the action's name in lower case, as layouts spell it.
func (a Action) String() string {
	if a < NumActions {
		return actionNames[a]
	}
	return fmt.Sprintf("action(%d)", uint8(a))
}

// ParseAction returns the action called name, in any case.
func ParseAction(name string) (Action, error) {
	for a, n := range actionNames {
		if strings.EqualFold(n, name) {
			return Action(a), nil
		}
	}
	return 0, fmt.Errorf("control: no action %q: want one of %s", name, strings.Join(actionNames[:], ", "))
}

// Speeds that bring out the gaits, in m/s: 1.1 m/s times 0.7, 1, 1.8 and 3.2.
const (
	WalkSpeed   float32 = 0.77
	PaceSpeed   float32 = 1.1
	TrotSpeed   float32 = 1.98
	CanterSpeed float32 = 3.52
)

// MaxTurn is how far a goal with Turn 1 asks a character to turn in a second, in radians.
const MaxTurn float32 = 60 * math.Pi / 180

// Goal is what one character should do now. The zero value asks it to stand still.
type Goal struct {
	// Move is the direction to go in the character's frame, +X left and +Z forward; Y is ignored.
	// Its length, at most 1, scales Speed.
	Move m3.Vec3
	// Turn asks to turn by MaxTurn per second, from −1 (to the right) to 1 (to the left). It works
	// with and without Move.
	Turn float32
	// Speed in m/s while moving.
	Speed float32
	// Action to take. Idle becomes Move where Move, Turn or Path ask for motion; Sit, Lie and Stand
	// stop the character first.
	Action Action
	// Path, where set, is followed at Speed from its nearest point; Move and Turn are ignored.
	Path *Path
}

// Finite reports whether g holds no NaN or infinity.
func (g *Goal) Finite() bool { return g.Move.Finite() && m3.Finite(g.Turn) && m3.Finite(g.Speed) }

// Steer returns the Turn that brings a character with heading yaw to the heading want, both in
// radians as m3.YawOf measures them: within a second where MaxTurn allows.
func Steer(yaw, want float32) float32 {
	return m3.Clamp(m3.WrapAngle(want-yaw)/MaxTurn, -1, 1)
}
