$(BUILD)/web/obj/prose.o: $(BUILD)/obj/prose.o
	@mkdir -p $(@D) && $(wasm) $(for_pages) -c $(BUILD)/prose.c -o $@
