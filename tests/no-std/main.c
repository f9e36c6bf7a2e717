/* A program of C that has the model in it, without Rust's standard library. */
#include <stdint.h>
#include <stdio.h>

uint32_t through_fq_codel(uint32_t packets);
int32_t dscp(const uint8_t *bytes, size_t length);

/* The precompiled `alloc` names what would unwind a panic; here panics abort, and nobody calls it. */
void rust_eh_personality(void) {}

static const uint8_t packet[28] = {
    0x45, 0xb8, 0x00, 0x1c, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0x00, 0x00, 10, 0,
    0,    1,    10,   0,    0,    2,    0xc0, 0x03, 0x00, 0x35, 0x00, 0x08, 0x00, 0x00,
};

int main(void) {
  uint32_t through = through_fq_codel(1000);
  int32_t mark = dscp(packet, sizeof packet), none = dscp(packet, 3);
  printf("%u of 1000 packets through fq_codel at half their rate, DSCP %d, of three bytes %d\n", through, mark, none);
  /* CoDel gives a packet for each dequeue: what it drops, it drops before another. */
  return through == 500 && mark == 46 && none == -1 ? 0 : 1;
}
