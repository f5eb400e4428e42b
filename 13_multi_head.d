13_multi_head.o: chapters/13_multi_head.c src/attention.h
src/attention.h:
