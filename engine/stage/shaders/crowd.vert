#include <mannequin_skinned>
uniform mat4 MVP;

out vec3 vPos;    // world
out vec3 vNormal; // world
out vec3 vBind;
out vec4 vCoat;
out vec2 vCoord;
flat out vec3 vTint;
flat out vec4 vVariation;

void main() {
	ivec2 who = character();
	mat4x3 m = skin(who, Joint, Weight);
	vVariation = variationOf(who);
	vPos = m * vec4(Position + Normal * thickness(vVariation), 1.0);
	vNormal = m * vec4(Normal, 0.0);
	vBind = Position;
	vCoat = Coat;
	vCoord = Coord;
	vTint = tintOf(who);
	gl_Position = MVP * vec4(vPos, 1.0);
}
