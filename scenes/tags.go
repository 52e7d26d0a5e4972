package scenes

// Player is the tag of an entity that takes its goal from the player's input.
type Player struct{}

// Wander is the tag of an entity that walks about by itself.
type Wander struct{}
