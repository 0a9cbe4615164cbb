set(LINKS tbem_test_card tbem_card_file)
