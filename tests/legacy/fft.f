C@ f2c -a
      SUBROUTINE PASB2(IDO,L1,CC,CH,WA1)
C     A PASS OF RADIX 2, REAL AND IMAGINARY PARTS IN TURN
      INTEGER IDO,L1,I,K
      DOUBLE PRECISION CC(IDO,2,L1),CH(IDO,L1,2),WA1(*),TR2,TI2
C@ begin ido=64 l1=4096
      DO 104 K = 1,L1
         DO 103 I = 2,IDO,2
            CH(I-1,K,1) = CC(I-1,1,K) + CC(I-1,2,K)
            TR2 = CC(I-1,1,K) - CC(I-1,2,K)
            CH(I,K,1) = CC(I,1,K) + CC(I,2,K)
            TI2 = CC(I,1,K) - CC(I,2,K)
            CH(I,K,2) = WA1(I-1)*TI2 + WA1(I)*TR2
            CH(I-1,K,2) = WA1(I-1)*TR2 - WA1(I)*TI2
  103    CONTINUE
  104 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE PASB4(L1,CC,CH)
C     RADIX 4, THE LAST PASS
      INTEGER L1,K
      DOUBLE PRECISION CC(2,4,L1),CH(2,L1,4)
      DOUBLE PRECISION TI1,TI2,TI3,TI4,TR1,TR2,TR3,TR4
C@ begin l1=100000
      DO 101 K = 1,L1
         TI1 = CC(2,1,K) - CC(2,3,K)
         TI2 = CC(2,1,K) + CC(2,3,K)
         TR4 = CC(2,4,K) - CC(2,2,K)
         TI3 = CC(2,2,K) + CC(2,4,K)
         TR1 = CC(1,1,K) - CC(1,3,K)
         TR2 = CC(1,1,K) + CC(1,3,K)
         TI4 = CC(1,2,K) - CC(1,4,K)
         TR3 = CC(1,2,K) + CC(1,4,K)
         CH(1,K,1) = TR2 + TR3
         CH(1,K,3) = TR2 - TR3
         CH(2,K,1) = TI2 + TI3
         CH(2,K,3) = TI2 - TI3
         CH(1,K,2) = TR1 + TR4
         CH(1,K,4) = TR1 - TR4
         CH(2,K,2) = TI1 + TI4
         CH(2,K,4) = TI1 - TI4
  101 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE RADF2(IDO,L1,CC,CH,WA1)
C     REAL, FORWARDS: THE MIRRORED INDEX
      INTEGER IDO,L1,I,IC,IDP2,K
      DOUBLE PRECISION CC(IDO,L1,2),CH(IDO,2,L1),WA1(*),TI2,TR2
C@ begin ido=65 l1=4096
      DO 101 K = 1,L1
         CH(1,1,K) = CC(1,K,1) + CC(1,K,2)
         CH(IDO,2,K) = CC(1,K,1) - CC(1,K,2)
  101 CONTINUE
      IDP2 = IDO + 2
      DO 104 K = 1,L1
         DO 103 I = 3,IDO,2
            IC = IDP2 - I
            TR2 = WA1(I-2)*CC(I-1,K,2) + WA1(I-1)*CC(I,K,2)
            TI2 = WA1(I-2)*CC(I,K,2) - WA1(I-1)*CC(I-1,K,2)
            CH(I,1,K) = CC(I,K,1) + TI2
            CH(IC,2,K) = TI2 - CC(I,K,1)
            CH(I-1,1,K) = CC(I-1,K,1) + TR2
            CH(IC-1,2,K) = CC(I-1,K,1) - TR2
  103    CONTINUE
  104 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE FFTSTG(N,L,X,W)
C     A STAGE IN PLACE, COMPLEX, ITS STRIDE AN ARGUMENT
      INTEGER N,L,I,J,LE
      COMPLEX*16 X(*),W(*),T
C@ begin n=65536 l=16
      LE = 2*L
      DO 20 J = 1,L
         DO 10 I = J,N,LE
            T = X(I+L)*W(J)
            X(I+L) = X(I) - T
            X(I) = X(I) + T
   10    CONTINUE
   20 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE FFTSTK(M,L,X,Y,W)
C     STOCKHAM'S FORM: OUT OF PLACE, NO REORDERING
      INTEGER M,L,J,K
      COMPLEX*16 X(L,2,M),Y(L,M,2),W(*),C0,C1
C@ begin m=256 l=256
      DO 20 J = 1,M
         DO 10 K = 1,L
            C0 = X(K,1,J)
            C1 = X(K,2,J)*W(J)
            Y(K,J,1) = C0 + C1
            Y(K,J,2) = C0 - C1
   10    CONTINUE
   20 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE COSTRN(N,X,WSAVE)
C     FOLDING BEFORE A COSINE TRANSFORM
      INTEGER N,K,KC,NP1,NS2
      DOUBLE PRECISION X(*),WSAVE(*),C1,T1,T2
      NP1 = N + 1
      NS2 = N/2
C@ begin n=100000
      C1 = X(1) - X(N)
      DO 104 K = 2,NS2
         KC = NP1 - K
         T1 = X(K) + X(KC)
         T2 = X(K) - X(KC)
         C1 = C1 + WSAVE(KC)*T2
         T2 = WSAVE(K)*T2
         X(K) = T1 - T2
         X(KC) = T1 + T2
  104 CONTINUE
C@ end
      X(1) = C1
      RETURN
      END
      SUBROUTINE BITREV(N,X,Y,IREV)
C     THE REORDERING BY A TABLE, OUT OF PLACE
      INTEGER N,IREV(*),I
      DOUBLE PRECISION X(2,*),Y(2,*)
C@ begin n=65536 | extent = ['x[2*n]']
      DO 10 I = 1,N
         Y(1,I) = X(1,IREV(I))
         Y(2,I) = X(2,IREV(I))
   10 CONTINUE
C@ end
      RETURN
      END
