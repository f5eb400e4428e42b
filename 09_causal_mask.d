09_causal_mask.o: chapters/09_causal_mask.c src/attention.h
src/attention.h:
