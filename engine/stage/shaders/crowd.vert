#include <herd>

// Some have longer hair than others.
float stout(vec4 who) { return mix(-0.002, 0.010, who.w) * Coat.z; }
