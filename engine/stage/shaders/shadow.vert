#include <mannequin_bones>
layout(location = 0) in vec3 Position;
layout(location = 1) in vec4 Joint;
layout(location = 2) in vec4 Weight;
uniform mat4 MVP;

void main() {
	gl_Position = MVP * vec4(skin(character(), Joint, Weight) * vec4(Position, 1.0), 1.0);
}
