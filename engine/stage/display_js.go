package stage

import "mannequin/engine/stage/internal/gl"

// displayGone reports whether the browser has taken the graphics away, as it does where a
// driver fails or memory is short. It may give them back: to another stage.
func displayGone() bool { return gl.Lost() }

const goneMessage = "stage: the browser has taken the graphics away"
