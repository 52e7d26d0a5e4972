#include <herd>

// A skin that is worn is as thick as its mesh.
float stout(vec4 who) { return 0.0; }
