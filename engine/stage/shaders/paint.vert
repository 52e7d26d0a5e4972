#include <herd>

// A painted body is as thick as its mesh.
float thickness(vec4 variation) { return 0.0; }
