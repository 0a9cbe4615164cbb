set(LINKS tbem_test_card)
