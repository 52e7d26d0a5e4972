// The vertices of a crowd with any cover.
#include <bones>
layout(location = 0) in vec3 Position;
layout(location = 1) in vec3 Normal;
layout(location = 2) in vec4 Joint;
layout(location = 3) in vec4 Weight;
layout(location = 4) in vec4 Coat;
uniform mat4 MVP;

out vec3 vPos;    // world
out vec3 vNormal; // world
out vec3 vBind;   // bind pose, where fur grows and cloth is woven
out vec4 vCoat;
flat out vec3 vTint;
flat out vec4 vVariation; // 0…1 each

float thickness(vec4 variation); // by how much the body is thicker than its mesh, m

void main() {
	int row = character();
	mat4x3 m = skin(row, Joint, Weight);
	vVariation = texelFetch(Bones, ivec2(3 * Joints + 1, row), 0);
	vPos = m * vec4(Position + Normal * thickness(vVariation), 1.0);
	vNormal = m * vec4(Normal, 0.0);
	vBind = Position;
	vCoat = Coat;
	vTint = texelFetch(Bones, ivec2(3 * Joints, row), 0).rgb;
	gl_Position = MVP * vec4(vPos, 1.0);
}
