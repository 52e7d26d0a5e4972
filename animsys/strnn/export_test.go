package strnn

// The parts of what a row of a Stream shows, for tests.
func (s *Stream) Window(row int) []float32 { return s.window(row) }
func (s *Stream) Enliven(row int)          { s.enliven(row) }
func (s *Stream) Shown(row int) []float32  { return s.joints(row) }

const (
	LivelyTrunk  = livelyTrunk
	LivelyArms   = livelyArms
	StandBend    = standBend
	LivelyWindow = livelyWindow
)
