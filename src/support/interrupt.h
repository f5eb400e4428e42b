/*
## Being stopped: `interrupt.c` {#header-interrupt}
*/

#pragma once

/* From now on, Ctrl-C does not end the program at once: is_interrupted
 * answers 1, so that a long run can save what it has and end by itself. A
 * second Ctrl-C ends it. Python: signal.signal, and KeyboardInterrupt. */
void stop_when_interrupted(void);
int is_interrupted(void);
