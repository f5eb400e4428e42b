02_softmax.o: chapters/02_softmax.c src/attention.h
src/attention.h:
