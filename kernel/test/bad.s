# An object that breaks each rule of kernel/check once.
	.globl hashlane_engine, hashlane_kernel, hashlane_blocks, hashlane_section, hashlane_sha1_many
	.text
hashlane_engine:
	mov	%rax, -8(%rsp)		# below the stack pointer
	jmp	__x86_return_thunk
hashlane_kernel:
	mov	constant@GOTPCREL(%rip), %rax
	call	*%rax			# indirect
	jmp	__x86_return_thunk
hashlane_blocks:
	sub	%rax, %rsp		# of no known size
	ret
hashlane_section:
	sub	$0x3800, %rsp
	call	deeper
	add	$0x3800, %rsp
	jmp	__x86_return_thunk
deeper:
	push	%rbx
	sub	$0x1000, %rsp
	call	unexpected
	add	$0x1000, %rsp
	pop	%rbx
	jmp	__x86_return_thunk
hashlane_sha1_many:
	sub	$0x900, %rsp
	call	sha1_init
	add	$0x900, %rsp
	jmp	__x86_return_thunk
