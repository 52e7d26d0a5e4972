#include <light>
in vec3 vDir;
out vec4 color;

void main() {
	color = vec4(sqrt(clamp(sky(normalize(vDir)), 0.0, 1.0)), 1.0);
}
