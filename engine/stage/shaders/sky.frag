#include <light>
in vec3 vDir;
out vec4 color;

void main() {
	color = vec4(encode(sky(normalize(vDir))), 1.0);
}
